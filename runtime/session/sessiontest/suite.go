// Package sessiontest is the suite that every session.Store passes.
package sessiontest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/session"
)

// Subject is a Store under test.
type Subject struct {
	Store session.Store
	// Advance lets time pass for the store. In the virtual time of
	// testing/synctest it is time.Sleep.
	Advance func(d time.Duration)
	// Max is the bound of records, 0 if the store has none that can be
	// reached.
	Max int
}

// Run runs the suite. open makes an empty store for each test; what must be
// closed is closed by the test's Cleanup. in runs each test: synctest.Test
// where the store keeps this process's time, Plain where it has its own.
func Run(t *testing.T, in func(t *testing.T, f func(t *testing.T)), open func(t *testing.T) Subject) {
	for name, test := range map[string]func(*testing.T, Subject){
		"what is put comes back":          roundTrip,
		"absence is no error":             absence,
		"records end with their time":     expiry,
		"touch gives more time":           touch,
		"a second put replaces the first": replace,
		"what is returned can be kept":    aliasing,
		"a context that has ended":        cancelled,
		"many at once":                    concurrent,
		"the bound":                       bound,
	} {
		t.Run(name, func(t *testing.T) { in(t, func(t *testing.T) { test(t, open(t)) }) })
	}
}

// Plain runs a test in real time.
func Plain(t *testing.T, f func(t *testing.T)) { f(t) }

// Keys may hold anything that a session key may.
var keys = []string{"0123456789abcdef0123456789abcdef", "a/b:c", "ключ", "with space", "*"}

func sample(i int) session.Record {
	return session.Record{
		Revision: "2025-06-18", Principal: fmt.Sprintf("user-%d", i),
		Capabilities: []byte(`{"sampling":{},"n":9007199254740993}`), ClientInfo: []byte(`{"name":"é\u0000"}`),
		Created: time.Now().Truncate(time.Second),
	}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func put(t *testing.T, s Subject, key string, r session.Record, ttl time.Duration) {
	t.Helper()
	if err := s.Store.Put(t.Context(), key, r, ttl); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s Subject, key string) (session.Record, bool) {
	t.Helper()
	r, ok, err := s.Store.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return r, ok
}

func same(a, b session.Record) bool {
	return a.Revision == b.Revision && a.Principal == b.Principal && string(a.Capabilities) == string(b.Capabilities) &&
		string(a.ClientInfo) == string(b.ClientInfo) && (a.ClientInfo == nil) == (b.ClientInfo == nil) && a.Created.Unix() == b.Created.Unix()
}

func roundTrip(t *testing.T, s Subject) {
	for i, key := range keys {
		put(t, s, key, sample(i), time.Hour)
	}
	empty := session.Record{Revision: "2024-11-05", Capabilities: []byte(`{}`)}
	put(t, s, "empty", empty, time.Hour)
	for i, key := range keys {
		if r, ok := get(t, s, key); !ok || !same(r, sample(i)) {
			t.Errorf("%q: %v %+v", key, ok, r)
		}
	}
	if r, ok := get(t, s, "empty"); !ok || !same(r, empty) || r.Principal != "" {
		t.Errorf("%v %+v", ok, r)
	}
	if err := s.Store.Delete(t.Context(), keys[0]); err != nil {
		t.Fatal(err)
	}
	if _, ok := get(t, s, keys[0]); ok {
		t.Error("deleted, and there")
	}
	if _, ok := get(t, s, keys[1]); !ok {
		t.Error("another one went along")
	}
}

func absence(t *testing.T, s Subject) {
	if _, ok := get(t, s, "none"); ok {
		t.Error("found")
	}
	if must[bool](t)(s.Store.Touch(t.Context(), "none", time.Hour)) {
		t.Error("touched")
	}
	if err := s.Store.Delete(t.Context(), "none"); err != nil {
		t.Error(err)
	}
	if _, ok := get(t, s, "none"); ok {
		t.Error("touching made one")
	}
}

func expiry(t *testing.T, s Subject) {
	put(t, s, "short", sample(1), time.Minute)
	put(t, s, "long", sample(2), time.Hour)
	s.Advance(59 * time.Second)
	if _, ok := get(t, s, "short"); !ok {
		t.Error("gone too early")
	}
	s.Advance(2 * time.Second)
	if _, ok := get(t, s, "short"); ok {
		t.Error("there too long")
	}
	if must[bool](t)(s.Store.Touch(t.Context(), "short", time.Hour)) {
		t.Error("revived")
	}
	if _, ok := get(t, s, "long"); !ok {
		t.Error("the other one went along")
	}
}

func touch(t *testing.T, s Subject) {
	put(t, s, "k", sample(1), time.Minute)
	for range 5 {
		s.Advance(45 * time.Second)
		if !must[bool](t)(s.Store.Touch(t.Context(), "k", time.Minute)) {
			t.Fatal("gone although touched")
		}
	}
	if r, ok := get(t, s, "k"); !ok || !same(r, sample(1)) && r.Principal != "user-1" {
		t.Errorf("%v %+v", ok, r)
	}
	s.Advance(61 * time.Second)
	if _, ok := get(t, s, "k"); ok {
		t.Error("there too long")
	}
}

func replace(t *testing.T, s Subject) {
	put(t, s, "k", sample(1), time.Hour)
	put(t, s, "k", sample(2), time.Minute)
	if r, ok := get(t, s, "k"); !ok || r.Principal != "user-2" {
		t.Errorf("%v %+v", ok, r)
	}
	s.Advance(61 * time.Second)
	if _, ok := get(t, s, "k"); ok {
		t.Error("it kept the time of the first")
	}
}

func aliasing(t *testing.T, s Subject) {
	r := sample(1)
	put(t, s, "k", r, time.Hour)
	copy(r.Capabilities, "XXXX")
	if got, _ := get(t, s, "k"); string(got.Capabilities[:4]) == "XXXX" {
		t.Error("the store kept the caller's bytes")
	}
}

func cancelled(t *testing.T, s Subject) {
	put(t, s, "k", sample(1), time.Hour)
	why := errors.New("enough")
	ctx, stop := context.WithCancelCause(t.Context())
	stop(why)
	_, _, getErr := s.Store.Get(ctx, "k")
	_, touchErr := s.Store.Touch(ctx, "k", time.Hour)
	for name, err := range map[string]error{
		"Put": s.Store.Put(ctx, "other", sample(1), time.Hour), "Get": getErr, "Touch": touchErr, "Delete": s.Store.Delete(ctx, "k"),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, ok := get(t, s, "k"); !ok {
		t.Error("deleted all the same")
	}
	if _, ok := get(t, s, "other"); ok {
		t.Error("stored all the same")
	}
}

func concurrent(t *testing.T, s Subject) {
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 20 {
				key := fmt.Sprintf("k-%d", (i+n)%10)
				_ = s.Store.Put(t.Context(), key, sample(i), time.Hour)
				if r, ok, err := s.Store.Get(t.Context(), key); err != nil || ok && r.Revision != "2025-06-18" {
					t.Errorf("%v %+v", err, r)
				}
				_, _ = s.Store.Touch(t.Context(), key, time.Hour)
				_ = s.Store.Delete(t.Context(), fmt.Sprintf("k-%d", n%10))
			}
		})
	}
	all.Wait()
}

func bound(t *testing.T, s Subject) {
	if s.Max == 0 {
		t.Log("the store has no bound of its own")
		return
	}
	for i := range s.Max {
		put(t, s, fmt.Sprint(i), sample(i), time.Duration(i+1)*time.Minute)
	}
	if err := s.Store.Put(t.Context(), "more", sample(1), time.Hour); !errors.Is(err, session.ErrStoreFull) {
		t.Errorf("one too many: %v", err)
	}
	put(t, s, "0", sample(9), time.Minute) // there already
	s.Advance(61 * time.Second)
	put(t, s, "more", sample(1), time.Hour)
}
