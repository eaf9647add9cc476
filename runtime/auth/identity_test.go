package auth_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

func TestAPrincipalIsUnambiguous(t *testing.T) {
	seen := map[string][]string{}
	for _, parts := range [][]string{{"a"}, {"a", "b"}, {"a|b"}, {"a", "b|c"}, {"a|b", "c"}, {"a", "b", "c"}, {"a%7Cb"}, {"", "a"}, {"a", ""}, {"%"}, {"%25"}} {
		name := auth.Principal(parts...)
		if other, taken := seen[name]; taken {
			t.Errorf("%q and %q are both %q", other, parts, name)
		}
		seen[name] = parts
	}
	if got := auth.Principal("alice@example.com"); got != "alice@example.com" {
		t.Errorf("a plain name became %q", got)
	}
}

func TestTheAnonymousCallerIsNobody(t *testing.T) {
	var nobody *auth.Identity
	if nobody.Name() != "" || nobody.Has("a") || !nobody.Has() || nobody.Expired(time.Now()) {
		t.Error("an anonymous caller is somebody")
	}
	if auth.NeedScopes(nobody, "a") == nil || auth.NeedScopes(nobody) != nil {
		t.Error("an anonymous caller has scopes")
	}
	if auth.FromContext(t.Context()) != nil {
		t.Error("an empty context has an identity")
	}
	id := &auth.Identity{Principal: "p"}
	if auth.FromContext(auth.NewContext(t.Context(), id)) != id {
		t.Error("the identity is lost")
	}
}

// W38.11
func TestBroaderScopesIncludeNarrowerOnes(t *testing.T) {
	h := auth.Hierarchy{"admin": {"write", "admin"}, "write": {"read"}, "read": {"admin "}}
	if diff := cmp.Diff([]string{"admin", "read", "write"}, h.Expand([]string{"admin"})); diff != "" {
		t.Error(diff)
	}
	granted := []string{"write"}
	c := auth.WithHierarchy(auth.CheckerFunc(func(context.Context, string, *http.Request) (*auth.Identity, error) {
		return &auth.Identity{Principal: "p", Scopes: granted}, nil
	}), h)
	id, err := c.Check(t.Context(), "t", nil)
	if err != nil || !id.Has("read", "write") || id.Has("admin") {
		t.Errorf("%+v, %v", id, err)
	}
	if len(granted) != 1 {
		t.Error("the checker's own scopes were changed")
	}
}

// B10.8
func TestAContextEndsWithTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		id := &auth.Identity{Principal: "p", Expires: time.Now().Add(time.Hour)}
		ctx, stop := auth.UntilExpiry(t.Context(), id)
		defer stop()
		time.Sleep(time.Hour - time.Second)
		if ctx.Err() != nil || id.Expired(time.Now()) {
			t.Error("too early")
		}
		time.Sleep(2 * time.Second)
		if !errors.Is(context.Cause(ctx), auth.ErrExpired) || !id.Expired(time.Now()) {
			t.Errorf("after the end: %v", context.Cause(ctx))
		}
		for name, id := range map[string]*auth.Identity{"anonymous": nil, "no end": {Principal: "p"}} {
			ctx, stop := auth.UntilExpiry(t.Context(), id)
			time.Sleep(10 * 365 * 24 * time.Hour)
			if ctx.Err() != nil {
				t.Errorf("%s: ended", name)
			}
			stop()
		}
	})
}

func TestTheFirstCheckerThatTakesATokenCounts(t *testing.T) {
	yes := func(name string) auth.Checker {
		return auth.CheckerFunc(func(context.Context, string, *http.Request) (*auth.Identity, error) {
			return &auth.Identity{Principal: name}, nil
		})
	}
	no := func(err error) auth.Checker {
		return auth.CheckerFunc(func(context.Context, string, *http.Request) (*auth.Identity, error) { return nil, err })
	}
	invalid, scope, outage := auth.Refuse(auth.InvalidToken, "x"), auth.Refuse(auth.InsufficientScope, "y"), errors.New("keys cannot be had")
	for name, tc := range map[string]struct {
		checkers []auth.Checker
		want     string
	}{
		"the second":                         {[]auth.Checker{no(invalid), yes("b"), yes("c")}, "b"},
		"in spite of an outage":              {[]auth.Checker{no(outage), yes("b")}, "b"},
		"nobody, and one could not find out": {[]auth.Checker{no(invalid), no(outage)}, "keys cannot be had"},
		"nobody":                             {[]auth.Checker{no(invalid), no(invalid)}, "invalid_token: x"},
		"one that knew the token":            {[]auth.Checker{no(invalid), no(scope), no(invalid)}, "insufficient_scope: y"},
		"no checkers":                        {nil, "invalid_token: the token is not valid here"},
		"one that says nothing at all":       {[]auth.Checker{no(nil)}, "invalid_token: the token is not valid here"},
	} {
		t.Run(name, func(t *testing.T) {
			id, err := auth.First(tc.checkers...).Check(t.Context(), "t", nil)
			got := id.Name()
			if err != nil {
				got = err.Error()
			}
			if got != tc.want || (id == nil) == (err == nil) {
				t.Errorf("got %q", got)
			}
		})
	}
}
