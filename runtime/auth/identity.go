package auth

import (
	"slices"
	"time"
)

// Identity is who asks, as a Checker found it. It is made once for a request and
// read by many goroutines: nobody may change it, nor its slices and maps. A nil
// *Identity is the anonymous caller; every method works on it.
type Identity struct {
	// Principal names the caller, unambiguously among all issuers and tenants
	// (see [Principal]). Sessions, tasks, cursors and limits are bound to it; it
	// is never empty.
	Principal string
	// Scopes are what the token grants, each once, sorted.
	Scopes []string
	// Claims are what else the Checker learnt; nil when nothing.
	Claims map[string]any
	// Expires is when the token ends; zero when it has no end. What outlives the
	// request (streams, listens) ends with it.
	Expires time.Time
}

// Name returns the principal, "" for the anonymous caller.
func (i *Identity) Name() string {
	if i == nil {
		return ""
	}
	return i.Principal
}

// Has tells whether every one of the scopes is granted. Anonymous callers have
// none, and no scopes at all are always granted.
func (i *Identity) Has(scopes ...string) bool {
	return len(i.Missing(scopes...)) == 0
}

// Missing returns those of the scopes that are not granted, in their order.
func (i *Identity) Missing(scopes ...string) []string {
	var out []string
	for _, s := range scopes {
		if i == nil || !slices.Contains(i.Scopes, s) {
			out = append(out, s)
		}
	}
	return out
}

// Expired tells whether the token has ended at now. Anonymous callers and tokens
// without an end never expire.
func (i *Identity) Expired(now time.Time) bool {
	return i != nil && !i.Expires.IsZero() && !now.Before(i.Expires)
}
