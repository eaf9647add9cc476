package oidc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/fairlead-dev/fairlead/runtime/auth/oidc"
)

const alice, forged = "https://as.example|alice", "the token is not signed by its issuer"

// rotate runs a test with the clock in its hand.
func rotate(t *testing.T, run func(t *testing.T, i *issuer, c *oidc.Checker, try func(k key) string, old, next key)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		old, next := ecKey(t, "old"), ecKey(t, "next")
		i := &issuer{url: "https://as.example", keys: []jose.JSONWebKey{old.public()}}
		c := i.checker(t, nil)
		run(t, i, c, func(k key) string {
			out := verdict(t.Context(), c, sign(t, k, i.claims(nil), nil))
			synctest.Wait() // for a fetch beside the request
			return out
		}, old, next)
	})
}

func TestANewKeyIsFoundAtOnce(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, _ *oidc.Checker, try func(key) string, old, next key) {
		if got := try(old); got != alice {
			t.Fatal(got)
		}
		time.Sleep(time.Minute)
		i.set(func() { i.keys = []jose.JSONWebKey{old.public(), next.public()} })
		if got := try(next); got != alice || i.count() != 2 {
			t.Errorf("%s after %d fetches", got, i.count())
		}
	})
}

func TestAWithdrawnKeyEnds(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, _ *oidc.Checker, try func(key) string, old, next key) {
		try(old)
		i.set(func() { i.keys = []jose.JSONWebKey{next.public()} })
		time.Sleep(10 * time.Minute)
		try(old) // begins the fetch
		if got := try(old); got != forged {
			t.Errorf("%s after %d fetches", got, i.count())
		}
	})
}

// Forged tokens are not aimed at the issuer: whatever comes, one fetch in ten
// seconds.
func TestUnknownKeysDoNotFloodTheIssuer(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, c *oidc.Checker, try func(key) string, old, _ key) {
		try(old)
		start := time.Now()
		for n := range 200 {
			token := sign(t, ecKey(t, fmt.Sprint("k", n)), i.claims(nil), nil)
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					if got := verdict(t.Context(), c, token); got != forged {
						t.Error(got)
					}
				})
			}
			wg.Wait()
			time.Sleep(300 * time.Millisecond)
		}
		if most := int(time.Since(start)/(10*time.Second)) + 1; i.count() > most {
			t.Errorf("%d fetches in %s", i.count(), time.Since(start))
		}
		if got := try(old); got != alice {
			t.Error(got)
		}
	})
}

// An outage of the issuer is outlived for an hour; then it is said to be one.
func TestAnOutageOfTheIssuer(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, _ *oidc.Checker, try func(key) string, old, next key) {
		try(old)
		i.set(func() { i.down = true })
		for range 59 {
			time.Sleep(time.Minute)
			if got := try(old); got != alice {
				t.Fatalf("%s after %d fetches", got, i.count())
			}
		}
		if got := try(next); got != "outage" { // nobody can say
			t.Errorf("a key that nobody knows: %s", got)
		}
		time.Sleep(time.Minute)
		before := i.count()
		for range 50 {
			if got := try(old); got != "outage" {
				t.Fatalf("after an hour: %s", got)
			}
		}
		if i.count() > before+1 {
			t.Errorf("%d fetches at once", i.count()-before)
		}
		i.set(func() { i.down = false })
		time.Sleep(10 * time.Second)
		if got := try(old); got != alice {
			t.Errorf("when it is back: %s", got)
		}
	})
}

func TestTheIssuerIsDownFromTheBeginning(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, _ *oidc.Checker, try func(key) string, old, _ key) {
		i.set(func() { i.down = true })
		if a, b := try(old), try(old); a != "outage" || b != "outage" || i.count() != 1 {
			t.Errorf("%s, %s after %d fetches", a, b, i.count())
		}
	})
}

// A set without a usable key does not replace one with.
func TestAnEmptyKeySetIsAnOutage(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, _ *oidc.Checker, try func(key) string, old, _ key) {
		try(old)
		i.set(func() { i.keys = nil })
		time.Sleep(15 * time.Minute)
		try(old)
		if got := try(old); got != alice {
			t.Error(got)
		}
	})
}

func TestManyWaitForOneFetchAndNoLongerThanTheyWant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := ecKey(t, "k")
		i := &issuer{url: "https://as.example", keys: []jose.JSONWebKey{k.public()}, hold: make(chan struct{})}
		var heard []string
		c := i.checker(t, func(c *oidc.Config) {
			c.Fetched = func(keys int, err error) { heard = append(heard, fmt.Sprint(keys, err)) }
		})
		token := sign(t, k, i.claims(nil), nil)
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if got := verdict(t.Context(), c, token); got != alice {
					t.Error(got)
				}
			})
		}
		wg.Go(func() {
			ctx, stop := context.WithTimeout(t.Context(), time.Second)
			defer stop()
			if got := verdict(ctx, c, token); got != "outage" {
				t.Errorf("who had no time: %s", got)
			}
		})
		time.Sleep(2 * time.Second)
		close(i.hold)
		wg.Wait()
		synctest.Wait()
		if i.count() != 1 || fmt.Sprint(heard) != "[1 <nil>]" {
			t.Errorf("%d fetches, heard %q", i.count(), heard)
		}
	})
}

// W38.18: what is remembered is checked against the clock and the keys each
// time.
func TestARememberedTokenEndsLikeAnyOther(t *testing.T) {
	rotate(t, func(t *testing.T, i *issuer, c *oidc.Checker, try func(key) string, old, next key) {
		try(old) // the keys are there now
		short := sign(t, old, i.claims(map[string]any{"exp": time.Now().Add(5 * time.Minute).Unix()}), nil)
		long := sign(t, old, i.claims(map[string]any{"exp": time.Now().Add(10 * time.Hour).Unix()}), nil)
		say := func(token string) string {
			out := verdict(t.Context(), c, token)
			synctest.Wait()
			return out
		}
		for range 3 {
			if a, b := say(short), say(long); a != alice || b != alice {
				t.Fatal(a, b)
			}
		}
		time.Sleep(6*time.Minute - time.Second) // and the skew
		if got := say(short); got != alice {
			t.Errorf("before its end: %s", got)
		}
		time.Sleep(time.Second)
		if got := say(short); got != "the token has expired" {
			t.Errorf("after its end: %s", got)
		}
		i.set(func() { i.keys = []jose.JSONWebKey{next.public()} })
		time.Sleep(10 * time.Minute)
		say(long) // begins the fetch
		if got := say(long); got != forged {
			t.Errorf("when its key is withdrawn: %s", got)
		}
		i.set(func() { i.down = true })
		token := sign(t, next, i.claims(map[string]any{"exp": time.Now().Add(10 * time.Hour).Unix()}), nil)
		if got := say(token); got != alice {
			t.Errorf("with the new key: %s", got)
		}
		time.Sleep(time.Hour)
		if got := say(token); got != "outage" {
			t.Errorf("after an hour without the issuer: %s", got)
		}
	})
}

func TestRememberedTokensAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := ecKey(t, "k")
		i := &issuer{url: "https://as.example", keys: []jose.JSONWebKey{k.public()}}
		c := i.checker(t, func(c *oidc.Config) { c.Remember = 4 })
		var all []string
		for n := range 20 {
			all = append(all, sign(t, k, i.claims(map[string]any{"sub": fmt.Sprint(n)}), nil))
		}
		for range 2 {
			for n, token := range all {
				if got := verdict(t.Context(), c, token); got != fmt.Sprintf("https://as.example|%d", n) {
					t.Errorf("%d: %s", n, got)
				}
			}
		}
		if got := oidc.Remembered(c); got != 4 {
			t.Errorf("%d are remembered", got)
		}
	})
}
