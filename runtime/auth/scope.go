package auth

import (
	"context"
	"net/http"
	"slices"
	"strings"
)

// MaxScopes bounds the scopes of one identity; a token that grants more is
// refused by the checkers of this project.
const MaxScopes = 256

// OfflineAccess is the scope that asks an authorization server for a refresh
// token. It says nothing about a resource and belongs neither into challenges
// nor into metadata (W38.12).
const OfflineAccess = "offline_access"

// ParseScopes splits a scope parameter (RFC 6749 section 3.3): each scope once,
// sorted, and nothing that is no scope.
func ParseScopes(text string) []string {
	return NormalScopes(strings.Fields(text))
}

// NormalScopes returns the legal ones of scopes, each once, sorted; nil for
// none. The argument is left as it is.
func NormalScopes(scopes []string) []string {
	var out []string
	for _, s := range scopes {
		if IsScope(s) {
			out = append(out, s)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsScope tells whether text is one scope: visible ASCII without quotation mark
// and backslash.
func IsScope(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < 0x21 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return text != ""
}

// Covers tells whether granted holds every one of the wanted scopes.
func Covers(granted, wanted []string) bool {
	for _, s := range wanted {
		if !slices.Contains(granted, s) {
			return false
		}
	}
	return true
}

// Hierarchy says which scopes a broader one includes (W38.11).
type Hierarchy map[string][]string

// Expand returns scopes with everything that they include, directly or through
// others, each once, sorted. Circles do no harm.
func (h Hierarchy) Expand(scopes []string) []string {
	out := slices.Clone(scopes)
	seen := make(map[string]bool, len(out))
	for i := 0; i < len(out); i++ { // grows while it runs
		if !seen[out[i]] {
			seen[out[i]] = true
			out = append(out, h[out[i]]...)
		}
	}
	return NormalScopes(out)
}

// WithHierarchy makes the identities of c have the scopes that theirs include,
// so that every later comparison may be a plain one.
func WithHierarchy(c Checker, h Hierarchy) Checker {
	return CheckerFunc(func(ctx context.Context, token string, r *http.Request) (*Identity, error) {
		id, err := c.Check(ctx, token, r)
		if err != nil || id == nil {
			return nil, err
		}
		wider := *id
		wider.Scopes = h.Expand(id.Scopes)
		return &wider, nil
	})
}
