package guard

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

// Options describe a Guard. Checker and Resource are required.
type Options struct {
	Checker auth.Checker
	// Resource is the public address of the MCP endpoint, such as
	// https://h.example/mcp. It is what tokens must be made for.
	Resource string
	// AuthorizationServers are the issuers of tokens. With none, as with
	// static tokens, there is no metadata document and no challenge points to
	// one.
	AuthorizationServers []string
	// Scopes are needed for any request at all; challenges ask for them, and a
	// token without them is refused (W38.8).
	Scopes []string
	// ScopesSupported are named by the metadata document: few, what a client
	// needs to begin with (W38.20). Nil means Scopes.
	ScopesSupported []string
	// Name and Documentation are for people, in the metadata document.
	Name, Documentation string
	// LocalPaths are further paths of the endpoint, behind whose well-known name
	// the document is served as well: behind a gateway that rewrites paths the
	// public one never arrives.
	LocalPaths []string
	// OldClients sends clients of 2025-03-26, who look for the authorization
	// server's own document here, to the first of AuthorizationServers (W38.17).
	OldClients bool
	// AllowedOrigins are the origins of web pages that may read the document
	// (R21); "*" allows all, which gives nothing away.
	AllowedOrigins []string
	// Anonymous lets requests without any token go on as anonymous. A token
	// that is no good is refused nevertheless.
	Anonymous bool
	// Timeout bounds one check [10 s].
	Timeout time.Duration
	// Checked hears of every check; nil hears nothing. It must not block.
	Checked func(Result)
}

// Result is how a check went.
type Result string

// The results, a closed set.
const (
	Accepted          Result = "accepted"
	Anonymous         Result = "anonymous"
	NoToken           Result = "no_token"
	Malformed         Result = "malformed"
	InvalidToken      Result = "invalid_token"
	InsufficientScope Result = "insufficient_scope"
	Unavailable       Result = "unavailable" // the checker could not find out
)

const defaultTimeout = 10 * time.Second

// retryAfter is what a client is told when the checker could not find out.
const retryAfter = 5 * time.Second

// Guard checks requests; see New. It is safe for concurrent use.
type Guard struct {
	o        Options
	resource *url.URL
	metadata string // the document's address; empty without a document
	document []byte
	paths    []string
	issuer   string // where old clients are sent; empty for nowhere
}

// New makes a Guard. The error says which option is wrong.
func New(o Options) (*Guard, error) {
	if o.Checker == nil {
		return nil, errors.New("guard: no checker")
	}
	resource, err := metadata.Canonical(o.Resource)
	if err != nil {
		return nil, fmt.Errorf("guard: Resource: %w", err)
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.ScopesSupported == nil {
		o.ScopesSupported = o.Scopes
	}
	for _, list := range [][]string{o.Scopes, o.ScopesSupported} {
		for _, scope := range list {
			if !auth.IsScope(scope) {
				return nil, fmt.Errorf("guard: %q is no scope", scope)
			}
			if scope == auth.OfflineAccess {
				return nil, errors.New("guard: offline_access is a matter between client and authorization server (W38.12)")
			}
		}
	}
	g := &Guard{o: o, resource: resource}
	if len(o.AuthorizationServers) == 0 {
		return g, nil
	}
	return g, g.describe()
}

// Resource returns the canonical address that tokens must be made for.
func (g *Guard) Resource() string { return g.resource.String() }

// Authenticate says who asks; nil is an anonymous caller, where those are
// allowed. The error is an *auth.Denied. It reads nothing of the body, so that a
// client that waits for 100 Continue never gets one (P33.4), and it trusts
// nothing but the checker's word: whatever goes wrong, the answer is no.
func (g *Guard) Authenticate(r *http.Request) (*auth.Identity, error) {
	token, refusal := auth.Bearer(r)
	if refusal != nil {
		if refusal.Code == auth.NoToken && g.o.Anonymous {
			g.checked(Anonymous)
			return nil, nil
		}
		return nil, g.deny(refusal)
	}
	ctx, stop := context.WithTimeout(r.Context(), g.o.Timeout)
	defer stop()
	id, err := g.o.Checker.Check(ctx, token, r)
	if err != nil {
		return nil, g.deny(err)
	}
	if id == nil || id.Principal == "" {
		return nil, g.deny(errors.New("guard: the checker names nobody"))
	}
	if id.Expired(time.Now()) {
		return nil, g.deny(auth.Refuse(auth.InvalidToken, "the token has expired"))
	}
	if lack := auth.NeedScopes(id, g.o.Scopes...); lack != nil {
		return nil, g.deny(lack)
	}
	g.checked(Accepted)
	return id, nil
}

// deny makes the HTTP form of an error. One that is no refusal means that the
// token could not be checked, which is not the client's fault and must not make
// it throw its token away.
func (g *Guard) deny(err error) *auth.Denied {
	refusal := auth.AsRefusal(err)
	if refusal == nil {
		g.checked(Unavailable)
		return &auth.Denied{Status: http.StatusServiceUnavailable, RetryAfter: retryAfter, Message: "tokens cannot be checked right now", Cause: err}
	}
	g.checked(resultOf(refusal.Code))
	message := "not authenticated"
	if refusal.Code != auth.NoToken {
		message = refusal.Reason
	}
	return &auth.Denied{Status: refusal.Code.Status(), Challenge: g.Challenge(refusal), Message: message, Cause: refusal}
}

// Challenge writes the WWW-Authenticate field of a refusal, also of one that
// came up later, when a tool turned out to need more (W38.9). It names all
// scopes of the operation at once (W38.10), those that every request needs
// included.
func (g *Guard) Challenge(refusal *auth.Refusal) string {
	full := *refusal
	full.Scopes = slices.Concat(g.o.Scopes, refusal.Scopes)
	return full.Challenge(g.metadata).String()
}

func (g *Guard) checked(r Result) {
	if g.o.Checked != nil {
		g.o.Checked(r)
	}
}

func resultOf(code auth.Code) Result {
	switch code {
	case auth.NoToken:
		return NoToken
	case auth.InvalidRequest:
		return Malformed
	case auth.InsufficientScope:
		return InsufficientScope
	}
	return InvalidToken
}
