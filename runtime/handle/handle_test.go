package handle_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/handle"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

type cart struct{ Items []string }

var (
	alice = handle.Owner{Principal: "alice"}
	bob   = handle.Owner{Principal: "bob"}
)

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func second[T any](_ T, err error) error { return err }

func store(t *testing.T, o handle.Options[cart]) *handle.Store[cart] {
	t.Helper()
	s, err := handle.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *handle.Store[cart], owner handle.Owner, items ...string) string {
	t.Helper()
	h, err := s.Put(t.Context(), owner, cart{items})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func has(t *testing.T, s *handle.Store[cart], owner handle.Owner, h string, items ...string) {
	t.Helper()
	got, err := s.Get(t.Context(), owner, h)
	if err != nil || !slices.Equal(got.Items, items) {
		t.Errorf("got %v, %v; want %v", got, err, items)
	}
}

func adds(item string) func(cart) (cart, error) {
	return func(c cart) (cart, error) {
		return cart{append(slices.Clone(c.Items), item)}, nil
	}
}

// W7.3: state that the next call refers to.
func TestPutGetUpdateRevoke(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store(t, handle.Options[cart]{})
		defer s.Close()
		h := put(t, s, alice, "a")
		has(t, s, alice, h, "a")
		got, err := s.Update(t.Context(), alice, h, adds("b"))
		if err != nil || len(got.Items) != 2 {
			t.Errorf("got %v, %v", got, err)
		}
		has(t, s, alice, h, "a", "b")
		mine := errors.New("mine")
		_, err = s.Update(t.Context(), alice, h, func(cart) (cart, error) { return cart{}, mine })
		is(t, err, mine)
		has(t, s, alice, h, "a", "b")
		is(t, s.Revoke(t.Context(), alice, h), nil)
		is(t, s.Revoke(t.Context(), alice, h), handle.ErrUnknown)
		is(t, second(s.Get(t.Context(), alice, h)), handle.ErrUnknown)
	})
}

// W38.21, B0.6: whatever is wrong with a handle, the answer is the same.
func TestForeignHandles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := &seal.Keyring{}
		if err := keys.LoadEphemeral(); err != nil {
			t.Fatal(err)
		}
		s := store(t, handle.Options[cart]{Keys: keys, Kind: "cart", TTL: time.Minute})
		others := store(t, handle.Options[cart]{Keys: keys, Kind: "order"})
		travels, err := handle.NewSealed(handle.Options[cart]{Keys: keys, Kind: "cart", TTL: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		defer others.Close()
		expired := put(t, s, alice)
		expiredSealed, err := travels.Put(t.Context(), alice, cart{})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute + handle.Skew)
		mine, revoked, nobodys := put(t, s, alice), put(t, s, alice), put(t, s, handle.Owner{})
		is(t, s.Revoke(t.Context(), alice, revoked), nil)
		sealed, err := travels.Put(t.Context(), alice, cart{})
		if err != nil {
			t.Fatal(err)
		}
		cursor, err := keys.Seal(seal.PurposeCursor, make([]byte, 48))
		if err != nil {
			t.Fatal(err)
		}
		short, err := keys.Seal(seal.PurposeHandle, nil)
		if err != nil {
			t.Fatal(err)
		}
		for name, tt := range map[string]struct {
			owner  handle.Owner
			handle string
		}{
			"another principal":            {bob, mine},
			"nobody":                       {handle.Owner{}, mine},
			"nobody from the same place":   {handle.Owner{Bucket: "alice"}, mine},
			"somebody with nobody's":       {alice, nobodys},
			"an expired one":               {alice, expired},
			"a revoked one":                {alice, revoked},
			"of another kind":              {alice, put(t, others, alice)},
			"a changed one":                {alice, altered(mine)},
			"a cut one":                    {alice, mine[:20]},
			"an empty one":                 {alice, ""},
			"of another purpose":           {alice, cursor},
			"with nothing in it":           {alice, short},
			"one that is too long":         {alice, strings.Repeat("A", 100_000)},
			"of the other form":            {alice, sealed},
			"of the other form, too late":  {alice, expiredSealed},
			"of the other form, another's": {bob, sealed},
		} {
			for op, err := range map[string]error{
				"get":    second(s.Get(t.Context(), tt.owner, tt.handle)),
				"update": second(s.Update(t.Context(), tt.owner, tt.handle, adds("x"))),
				"revoke": s.Revoke(t.Context(), tt.owner, tt.handle),
			} {
				if err != handle.ErrUnknown || handle.RPC(err).Code != jsonrpc.CodeInvalidParams {
					t.Errorf("%s: %s: %v", name, op, err)
				}
			}
			if tt.handle != sealed || tt.owner == bob {
				if _, err := travels.Get(t.Context(), tt.owner, tt.handle); err != handle.ErrUnknown {
					t.Errorf("%s: sealed: %v", name, err)
				}
			}
		}
		has(t, s, alice, mine)
		has(t, s, handle.Owner{Bucket: "elsewhere"}, nobodys)
	})
}

// The right to a handle is asked for on every use, of its rightful owner only.
func TestAuthorizeIsAskedOnEveryUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		denied := errors.New("denied")
		var allowed bool
		var asked []string
		o := handle.Options[cart]{Authorize: func(_ context.Context, owner handle.Owner, use handle.Use, v cart) error {
			asked = append(asked, fmt.Sprint(owner.Principal, " ", use, " ", v.Items))
			if !allowed {
				return denied
			}
			return nil
		}}
		s := store(t, o)
		defer s.Close()
		is(t, second(s.Put(t.Context(), alice, cart{[]string{"a"}})), denied)
		allowed = true
		h := put(t, s, alice, "a")
		allowed = false
		is(t, second(s.Get(t.Context(), alice, h)), denied)
		is(t, second(s.Update(t.Context(), alice, h, adds("b"))), denied)
		is(t, s.Revoke(t.Context(), alice, h), denied)
		is(t, second(s.Get(t.Context(), bob, h)), handle.ErrUnknown) // bob learns nothing
		allowed = true
		has(t, s, alice, h, "a")
		want := []string{"alice create [a]", "alice create [a]", "alice read [a]", "alice change [a]", "alice revoke [a]", "alice read [a]"}
		if !slices.Equal(asked, want) {
			t.Errorf("asked %q", asked)
		}
	})
}

// A step of the wall clock moves nothing (P33.10): the clock of a store runs on
// from where it was set.
func TestTheClockIsInjected(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	asked := 0
	o := handle.Options[cart]{TTL: time.Minute, Now: func() time.Time { return now }, Authorize: func(context.Context, handle.Owner, handle.Use, cart) error {
		asked++
		return nil
	}}
	s := store(t, o)
	defer s.Close()
	sealed, err := handle.NewSealed(o)
	if err != nil {
		t.Fatal(err)
	}
	h := put(t, s, alice)
	travels, err := sealed.Put(t.Context(), alice, cart{})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(time.Minute)
	is(t, second(s.Get(t.Context(), alice, h)), handle.ErrUnknown)
	if asked != 2 { // for the two that were made
		t.Errorf("asked %d times", asked)
	}
	is(t, second(sealed.Get(t.Context(), alice, travels)), nil) // other pods' clocks may be behind
	now = now.Add(handle.Skew)
	is(t, second(sealed.Get(t.Context(), alice, travels)), handle.ErrUnknown)
}

func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store(t, handle.Options[cart]{PerOwner: 2, Total: 3, TTL: time.Minute})
		first := put(t, s, alice)
		put(t, s, alice)
		is(t, second(s.Put(t.Context(), alice, cart{})), handle.ErrOwnerFull)
		place := handle.Owner{Bucket: "10.0.0.1"} // P22
		put(t, s, place)
		is(t, second(s.Put(t.Context(), handle.Owner{Bucket: "10.0.0.2"}, cart{})), handle.ErrFull)
		if got := handle.RPC(handle.ErrFull); got.Code != jsonrpc.CodeInternal || got.Reason() != "handle_limit" {
			t.Errorf("got %+v", got)
		}
		is(t, s.Revoke(t.Context(), alice, first), nil)
		put(t, s, alice)
		time.Sleep(time.Minute)
		for range 2 {
			put(t, s, bob)
		}
		if n := s.RevokeAll(bob); n != 2 || s.Len() != 0 {
			t.Errorf("%d revoked, %d left", n, s.Len())
		}
		h := put(t, s, bob)
		s.Close()
		s.Close()
		is(t, second(s.Get(t.Context(), bob, h)), handle.ErrUnknown)
		is(t, second(s.Put(t.Context(), bob, cart{})), handle.ErrClosed)
	})
}

// Of what happens at once, each value is released once and no edit is lost.
// A handle that carries its value needs no store, and is as much its owner's.
func TestSealed(t *testing.T) {
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	denied := errors.New("denied")
	allowed := true
	o := handle.Options[cart]{Keys: keys, Kind: "cart", Bytes: 100, Authorize: func(context.Context, handle.Owner, handle.Use, cart) error {
		if allowed {
			return nil
		}
		return denied
	}}
	here, err := handle.NewSealed(o)
	if err != nil {
		t.Fatal(err)
	}
	there, err := handle.NewSealed(o)
	if err != nil {
		t.Fatal(err)
	}
	h, err := here.Put(t.Context(), alice, cart{[]string{"a", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := there.Get(t.Context(), alice, h); err != nil || len(got.Items) != 2 {
		t.Errorf("got %v, %v", got, err)
	}
	if strings.Contains(h, "Items") {
		t.Error("the value can be read")
	}
	is(t, second(there.Get(t.Context(), bob, h)), handle.ErrUnknown)
	is(t, second(here.Put(t.Context(), alice, cart{[]string{strings.Repeat("x", 100)}})), handle.ErrTooLarge)
	o.Kind = "order"
	other, err := handle.NewSealed(o)
	if err != nil {
		t.Fatal(err)
	}
	is(t, second(other.Get(t.Context(), alice, h)), handle.ErrUnknown)
	allowed = false
	is(t, second(there.Get(t.Context(), alice, h)), denied)
	is(t, second(there.Put(t.Context(), alice, cart{})), denied)
	if _, err := handle.NewSealed(handle.Options[cart]{Kind: strings.Repeat("k", 65)}); err == nil {
		t.Error("a kind of any length")
	}
	broken, err := handle.NewSealed(handle.Options[func()]{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := broken.Put(t.Context(), alice, func() {}); err == nil {
		t.Error("a func was encoded")
	}
}

func TestErrorsForClients(t *testing.T) {
	own := jsonrpc.Errorf(-1, "own")
	for _, tt := range []struct {
		err  error
		code int64
		text string
	}{
		{handle.ErrUnknown, -32602, "unknown handle"},
		{fmt.Errorf("x: %w", handle.ErrUnknown), -32602, "unknown handle"},
		{handle.ErrOwnerFull, -32603, "too many handles"},
		{handle.ErrTooLarge, -32603, "the value is too large for a handle"},
		{fmt.Errorf("x: %w", own), -1, "own"},
		{errors.New("secret"), -32603, "internal error"},
	} {
		if got := handle.RPC(tt.err); got.Code != tt.code || got.Message != tt.text {
			t.Errorf("%v: %+v", tt.err, got)
		}
	}
	if handle.RPC(nil) != nil {
		t.Error("no error became one")
	}
}

func FuzzHandles(f *testing.F) {
	s, err := handle.New(handle.Options[int]{})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(s.Close)
	sealed, err := handle.NewSealed(handle.Options[int]{})
	if err != nil {
		f.Fatal(err)
	}
	kept, err := s.Put(f.Context(), alice, 1)
	if err != nil {
		f.Fatal(err)
	}
	carried, err := sealed.Put(f.Context(), alice, 1)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", ".", "e.", kept, carried, kept + "=", strings.ToUpper(kept)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, h string) {
		if _, err := s.Get(t.Context(), alice, h); (err == nil) != (h == kept) {
			t.Errorf("%q: %v", h, err)
		}
		if _, err := sealed.Get(t.Context(), alice, h); (err == nil) != (h == carried) {
			t.Errorf("%q: %v", h, err)
		}
	})
}

func BenchmarkPutGetRevoke(b *testing.B) {
	s, err := handle.New(handle.Options[int]{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	b.ReportAllocs()
	for b.Loop() {
		h, err := s.Put(b.Context(), alice, 1)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Get(b.Context(), alice, h); err != nil {
			b.Fatal(err)
		}
		if err := s.Revoke(b.Context(), alice, h); err != nil {
			b.Fatal(err)
		}
	}
}

// What ends while it is used is used no more, and released once.

// altered is a handle with another last character.
func altered(handle string) string {
	last := "_"
	if strings.HasSuffix(handle, last) {
		last = "A"
	}
	return handle[:len(handle)-1] + last
}
