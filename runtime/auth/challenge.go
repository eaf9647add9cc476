package auth

import (
	"slices"
	"strings"
)

// Challenge is one challenge of a WWW-Authenticate field (RFC 9110 section 11.6).
type Challenge struct {
	// Scheme as it came; compare it without letter case.
	Scheme string
	// Params by lower-case name. Of a name that comes twice, the first counts.
	Params map[string]string
	// Token68 is the other form that a challenge may have (Negotiate); it
	// excludes Params.
	Token68 string
}

// The parameters of a Bearer challenge (RFC 6750, RFC 9728).
const (
	ParamError            = "error"
	ParamErrorDescription = "error_description"
	ParamScope            = "scope"
	ParamResourceMetadata = "resource_metadata"
)

// Bearer tells whether the scheme is Bearer.
func (c Challenge) Bearer() bool { return strings.EqualFold(c.Scheme, "Bearer") }

// Code returns the error parameter.
func (c Challenge) Code() Code { return Code(c.Params[ParamError]) }

// Scopes returns the scope parameter, split.
func (c Challenge) Scopes() []string { return ParseScopes(c.Params[ParamScope]) }

// FindBearer returns the Bearer challenge that says most: one with an error,
// else one that points to metadata, else the first.
func FindBearer(challenges []Challenge) (Challenge, bool) {
	var bearer []Challenge
	for _, c := range challenges {
		if c.Bearer() {
			bearer = append(bearer, c)
		}
	}
	for _, param := range []string{ParamError, ParamResourceMetadata} {
		if i := slices.IndexFunc(bearer, func(c Challenge) bool { return c.Params[param] != "" }); i >= 0 {
			return bearer[i], true
		}
	}
	if len(bearer) == 0 {
		return Challenge{}, false
	}
	return bearer[0], true
}

// String writes the challenge as a field value. It holds printable ASCII only,
// whatever the parameters hold: a reason can never end the field.
func (c Challenge) String() string {
	var b strings.Builder
	b.WriteString(c.Scheme)
	separator := " "
	if c.Token68 != "" {
		return b.String() + separator + c.Token68
	}
	for _, name := range paramOrder(c.Params) {
		b.WriteString(separator + name + `="`)
		quoted(&b, c.Params[name])
		b.WriteByte('"')
		separator = ", "
	}
	return b.String()
}

// paramOrder puts what a person reads first to the front.
func paramOrder(params map[string]string) []string {
	first := []string{"realm", ParamError, ParamErrorDescription, ParamScope, ParamResourceMetadata}
	var known, other []string
	for _, name := range first {
		if _, ok := params[name]; ok {
			known = append(known, name)
		}
	}
	for name := range params {
		if !slices.Contains(first, name) && isToken(name) {
			other = append(other, name)
		}
	}
	slices.Sort(other)
	return append(known, other...)
}

func quoted(b *strings.Builder, text string) {
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r >= 0x20 && r < 0x7f:
			b.WriteRune(r)
		default:
			b.WriteByte('?')
		}
	}
}

// Challenge makes the challenge that says this refusal (W38.9). metadata is the
// address of the protected-resource metadata; empty leaves it out.
func (r *Refusal) Challenge(metadata string) Challenge {
	params := map[string]string{}
	set := func(name, value string) {
		if value != "" {
			params[name] = value
		}
	}
	if r.Code != NoToken {
		set(ParamError, string(r.Code))
		set(ParamErrorDescription, r.Reason)
	}
	scopes := slices.DeleteFunc(NormalScopes(r.Scopes), func(s string) bool { return s == OfflineAccess })
	set(ParamScope, strings.Join(scopes, " "))
	set(ParamResourceMetadata, metadata)
	return Challenge{Scheme: "Bearer", Params: params}
}
