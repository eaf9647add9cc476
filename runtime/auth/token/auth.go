package token

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

// Options describe an Auth. Resource and Source are required.
type Options struct {
	// Resource is the address of the MCP endpoint.
	Resource string
	Source   Source
	// Scopes are asked for from the beginning.
	Scopes []string
	// Choose picks one of the issuers that a server names; nil takes the first.
	Choose func(issuers []string) string
	// PlainHTTP lets tokens go over http to other machines.
	PlainHTTP bool
	// Fetcher replaces the one that discovers. Nil makes one that reaches as
	// far inside the network as the server itself was found to be.
	Fetcher *metadata.Fetcher
	// Observe hears what happens; nil hears nothing. It must not block.
	Observe func(Event)
}

// Event is something that happened to tokens. It holds none.
type Event struct {
	Reason Reason
	Scopes []string // asked for
	// Err is why there is no token; nil when there is one.
	Err error
}

// Bounds and clocks.
const (
	early        = 30 * time.Second // before its end a token is replaced
	firstBackoff = time.Second      // after a failure, or a refusal of a new token
	maxBackoff   = time.Minute
	calm         = 5 * time.Minute // without trouble, after which it is forgotten
	foundFor     = 15 * time.Minute
	maxSteps     = 8 // more scopes are asked for, in that time
)

// Auth has tokens for one server; see New. It is safe for concurrent use. It
// has nothing to close: what it does ends with the requests that wait for it.
type Auth struct {
	o        Options
	resource *url.URL

	mu       sync.Mutex
	current  Token
	asked    []string // the scopes that current was got with
	none     bool     // the Source has none before it is challenged
	wanted   []string // the union of scopes
	running  *flight
	trouble  trouble
	refused  pace              // of tokens that were good a moment ago
	replaced string            // the token that refused allowed to replace
	steps    map[string]stepUp // by the scopes that a token was asked for with
	found    found
	reach    metadata.Reach // of the server, as far as it is known
}

// New makes an Auth.
func New(o Options) (*Auth, error) {
	if o.Source == nil {
		return nil, errors.New("token: no source")
	}
	resource, err := metadata.Canonical(o.Resource)
	if err != nil {
		return nil, fmt.Errorf("token: %w", err)
	}
	a := &Auth{o: o, resource: resource, wanted: auth.NormalScopes(o.Scopes), steps: map[string]stepUp{}}
	if metadata.IsLoopback(resource.Hostname()) {
		a.reach = metadata.Loopback
	}
	return a, nil
}

// Authorize adds a token to a request to the server. Requests to other origins,
// and those that bring an Authorization field, are left as they are. An error
// means that the request must not be sent.
func (a *Auth) Authorize(r *http.Request) error {
	if !a.ours(r.URL) || r.Header.Get("Authorization") != "" {
		return nil
	}
	if r.URL.Scheme != "https" && !a.o.PlainHTTP && !metadata.IsLoopback(r.URL.Hostname()) {
		return fmt.Errorf("token: %s would get a token over plain http", r.URL.Hostname())
	}
	t, err := a.ready(r.Context())
	if err != nil {
		return err
	}
	*r = *r.WithContext(traced(r.Context()))
	if t.Value != "" {
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Set("Authorization", "Bearer "+t.Value)
	}
	return nil
}

// ours tells whether an address is at the server's origin.
func (a *Auth) ours(u *url.URL) bool {
	return u != nil && u.User == nil && metadata.Origin(u) == metadata.Origin(a.resource)
}

// ready returns the present token, a new one if it ends soon, or none.
func (a *Auth) ready(ctx context.Context) (Token, error) {
	a.mu.Lock()
	reason, old := First, a.current.Value
	switch {
	case a.current.Value != "" && !ends(a.current, early):
		defer a.mu.Unlock()
		return a.current, nil
	case a.current.Value != "":
		reason = Expired
	case a.none:
		a.mu.Unlock()
		return Token{}, nil
	}
	a.mu.Unlock()
	t, err := a.renew(ctx, Need{Reason: reason}, old)
	if errors.Is(err, ErrNone) && reason == First {
		a.mu.Lock()
		a.none = true
		a.mu.Unlock()
		return Token{}, nil
	}
	if err != nil && reason == Expired {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.current.Value != "" && !ends(a.current, 0) {
			return a.current, nil // it is good for some seconds yet
		}
	}
	return t, err
}

func ends(t Token, within time.Duration) bool {
	return !t.Expires.IsZero() && time.Until(t.Expires) <= within
}
