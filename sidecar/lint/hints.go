package lint

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/fairlead-dev/fairlead/sidecar/inspect"
)

// hints judges the caching hints of a list (W34.1): that they are there, and
// that public is true. The second can only be seen by asking as nobody where
// the target has credentials.
func (k *checker) hints(ctx context.Context, method, list string, pages, items []json.RawMessage) {
	if !k.profile.CachingHints {
		return
	}
	public := false
	for i, page := range pages {
		ttl, scope := string(member(page, "ttlMs")), text(page, "cacheScope")
		if n, err := strconv.ParseInt(ttl, 10, 64); err != nil || n < 0 {
			k.report(cacheHints, method, "page %d: ttlMs is %q, no whole number of milliseconds", i+1, ttl)
		}
		if scope != "public" && scope != "private" {
			k.report(cacheHints, method, "page %d: cacheScope is %q, neither public nor private", i+1, scope)
		}
		public = public || scope == "public"
	}
	if !public || k.target.Header.Get("Authorization") == "" && k.target.Header.Get("Cookie") == "" {
		return
	}
	nobody, err := anonymous(k.target).Connect(ctx)
	if err != nil {
		return // nobody gets nothing: nobody could cache it for others either
	}
	defer nobody.Close()
	page, err := nobody.Call(ctx, method, nil)
	if err != nil {
		return
	}
	if theirs := elements(page, list); !same(theirs, items[:min(len(items), len(theirs))]) || len(theirs) == 0 && len(items) > 0 {
		k.report(cacheScope, method, "is public, but differs without credentials: %s", difference(items, theirs))
	}
}

// anonymous is the target without credentials.
func anonymous(t inspect.Target) inspect.Target {
	t.Header = t.Header.Clone()
	if t.Header == nil {
		t.Header = http.Header{}
	}
	t.Header.Del("Authorization")
	t.Header.Del("Cookie")
	return t
}
