package token_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth/token"
)

// W38.3: on every request, and only where it belongs.
func TestATokenGoesToItsServerAndNowhereElse(t *testing.T) {
	for url, want := range map[string]string{
		endpoint: "t1", "https://h.example/other": "t1", "HTTPS://H.EXAMPLE:443/mcp": "t1",
		"https://h.example:444/mcp": "", "http://h.example/mcp": "", "https://h.example.evil/mcp": "", "https://evil.example/mcp": "",
		"https://evil@h.example/mcp": "",
	} {
		a := rig(t, &source{}, nil, nil).Auth
		r, err := http.NewRequestWithContext(t.Context(), "POST", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Authorize(r); err != nil {
			t.Errorf("%s: %v", url, err)
		}
		if got := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "); got != want || strings.Contains(r.URL.String(), "t1") {
			t.Errorf("%s: got %q", url, got)
		}
	}
}

func TestPlainHTTPCarriesNoTokenToOtherMachines(t *testing.T) {
	for name, tc := range map[string]struct {
		resource string
		plain    bool
		ok       bool
	}{
		"another machine":               {"http://h.example/mcp", false, false},
		"another machine, if one wants": {"http://h.example/mcp", true, true},
		"this machine":                  {"http://127.0.0.1:80/mcp", false, true},
		"this machine by name":          {"http://localhost/mcp", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := &resourceServer{takes: map[string][]string{"t1": nil}}
			c := rig(t, &source{}, s, func(o *token.Options) { o.Resource, o.PlainHTTP = tc.resource, tc.plain })
			if got := post(t.Context(), c, tc.resource, ""); (got == "200") != tc.ok || !tc.ok && len(s.seen) != 0 {
				t.Errorf("%s, the server saw %q", got, s.seen)
			}
		})
	}
}

func TestRequestsThatBringATokenAreLeftAlone(t *testing.T) {
	s, src := &resourceServer{}, &source{}
	c := rig(t, src, s, nil)
	r, _ := http.NewRequestWithContext(t.Context(), "GET", endpoint, nil)
	r.Header.Set("Authorization", "Bearer own")
	resp, err := c.RoundTrip(r)
	if err != nil || resp.StatusCode != 401 || len(src.take()) != 0 || fmt.Sprint(s.take()) != "[own]" {
		t.Errorf("%v, %v", resp, err)
	}
}

func TestARefusedTokenIsReplacedOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		takes  []string
		source *source
		want   string
		seen   []string
		needs  []string
	}{
		"it is good":                     {[]string{"t1"}, &source{}, "200", []string{"t1 B"}, []string{"first"}},
		"it is replaced":                 {[]string{"t2"}, &source{}, "200", []string{"t1 B", "t2 B"}, []string{"first", "refused"}},
		"the new one is refused as well": {nil, &source{}, "401", []string{"t1 B", "t2 B"}, []string{"first", "refused"}},
		"there is no other":              {nil, &source{always: "same"}, "401", []string{"same B"}, []string{"first", "refused"}},
		"none before it is asked for":    {[]string{"t1"}, &source{lazy: true}, "200", []string{"B", "t1 B"}, []string{"refused"}},
		"the source fails":               {nil, &source{fail: errors.New("log in first")}, "log in first", nil, []string{"first"}},
		"and fails when asked for one":   {nil, &source{lazy: true, fail: errors.New("log in first")}, "401", []string{"B"}, []string{"refused"}},
		"the source panics":              {nil, &source{panics: true}, "token: the source panicked: no terminal", nil, nil},
		"no token at all":                {nil, &source{always: "a b\r\nX-Evil: 1"}, "token: the source gave something that is no token", nil, []string{"first"}},
		"one that has ended":             {nil, &source{life: time.Nanosecond, delay: 0}, "token: the source gave a token that has ended", nil, []string{"first"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, src := &resourceServer{takes: map[string][]string{}}, tc.source
			for _, v := range tc.takes {
				s.takes[v] = nil
			}
			if got := post(t.Context(), rig(t, src, s, nil), endpoint, "B"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.seen, s.take()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tc.needs, src.take()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// W38.9, W38.10, W38.12: the union of all scopes is asked for.
func TestMoreScopesAreAskedForTogether(t *testing.T) {
	s := &resourceServer{takes: map[string][]string{"t1": {"base"}, "t2": {"a", "base"}, "t3": {"a", "b", "base"}}}
	src := &source{}
	var heard []string
	c := rig(t, src, s, func(o *token.Options) {
		o.Scopes = []string{"base"}
		o.Observe = func(e token.Event) { heard = append(heard, fmt.Sprint(e.Reason, e.Scopes, e.Err)) }
	})
	for _, needs := range [][]string{{"base"}, {"a"}, {"b", "a"}, {"a"}} {
		s.set(func() { s.needs = needs })
		if got := post(t.Context(), c, endpoint, "B"); got != "200" {
			t.Errorf("%q: %s", needs, got)
		}
	}
	if diff := cmp.Diff([]string{"first base", "scope a,base", "scope a,b,base"}, src.take()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"t1 B", "t1 B", "t2 B", "t2 B", "t3 B", "t3 B"}, s.take()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"first[base] <nil>", "scope[a base] <nil>", "scope[a b base] <nil>"}, heard); diff != "" {
		t.Error(diff)
	}
}

// A server that is never content does not make us ask for ever.
func TestScopesThatDoNotHelpAreNotAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, src := &resourceServer{takes: map[string][]string{}}, &source{}
		for n := range 100 {
			s.takes[fmt.Sprint("t", n)] = nil
		}
		c := rig(t, src, s, nil)
		s.needs = []string{"x"}
		for range 10 {
			if got := post(t.Context(), c, endpoint, ""); got != "403" {
				t.Fatal(got)
			}
		}
		if diff := cmp.Diff([]string{"first", "scope x"}, src.take()); diff != "" {
			t.Error(diff)
		}
		time.Sleep(6 * time.Minute)
		post(t.Context(), c, endpoint, "")
		if got := len(src.take()); got != 3 {
			t.Errorf("after a while the source was asked %d times", got)
		}
		for n := range 100 { // ever new ones
			s.set(func() { s.needs = []string{fmt.Sprint("x", n)} })
			post(t.Context(), c, endpoint, "")
		}
		if got := len(src.take()); got > 3+8 {
			t.Errorf("the source was asked %d times", got)
		}
	})
}

func TestAServerThatRefusesEverythingDoesNotWearOutTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, src := &resourceServer{}, &source{}
		c := rig(t, src, s, nil)
		for range 600 {
			post(t.Context(), c, endpoint, "")
			time.Sleep(time.Second)
		}
		if got := len(src.take()); got < 10 || got > 25 {
			t.Errorf("in ten minutes the source was asked %d times", got)
		}
	})
}

func TestASourceThatFailsIsLeftAloneForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, src := &resourceServer{takes: map[string][]string{"t11": nil}}, &source{fail: errors.New("no")}
		c := rig(t, src, s, nil)
		for range 100 {
			if got := post(t.Context(), c, endpoint, ""); got != "no" {
				t.Fatal(got)
			}
		}
		if got := len(src.take()); got != 1 {
			t.Errorf("at once the source was asked %d times", got)
		}
		for len(src.take()) < 10 {
			time.Sleep(time.Minute)
			post(t.Context(), c, endpoint, "")
		}
		src.fail = nil
		time.Sleep(time.Minute)
		if got := post(t.Context(), c, endpoint, ""); got != "200" {
			t.Errorf("when it works again: %s", got)
		}
	})
}

func TestATokenIsReplacedBeforeItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, src := &resourceServer{takes: map[string][]string{"t1": nil, "t2": nil}}, &source{life: time.Hour}
		c := rig(t, src, s, nil)
		at := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			if got := post(t.Context(), c, endpoint, ""); got != "200" {
				t.Fatal(got)
			}
			if got := fmt.Sprint(s.take()); got != want {
				t.Errorf("after %s: %s, want %s", d, got, want)
			}
		}
		at(0, "[t1]")
		at(time.Hour-31*time.Second, "[t1]")
		at(time.Second, "[t2]")
		src.fail = errors.New("no")
		at(time.Hour-10*time.Second, "[t2]") // old, but good for ten seconds yet
		time.Sleep(10 * time.Second)
		if got := post(t.Context(), c, endpoint, ""); got != "no" {
			t.Errorf("an ended token was sent: %s %q", got, s.take())
		}
	})
}

func TestManyRequestsWaitForOneToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, src := &resourceServer{takes: map[string][]string{"t2": nil}}, &source{delay: time.Minute}
		c := rig(t, src, s, nil)
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := post(t.Context(), c, endpoint, ""); got != "200" {
					t.Error(got)
				}
			})
		}
		wg.Go(func() { // the first to come may leave
			ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
			defer stop()
			if got := post(ctx, c, endpoint, ""); got != "enough" {
				t.Error(got)
			}
		})
		wg.Wait()
		if diff := cmp.Diff([]string{"first", "refused"}, src.take()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestASourceThatNobodyWaitsForIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := make(chan error, 1)
		n := 0
		c := rig(t, token.SourceFunc(func(ctx context.Context, _ token.Need) (token.Token, error) {
			if n++; n > 1 {
				return token.Token{Value: "t1"}, nil
			}
			<-ctx.Done()
			stopped <- context.Cause(ctx)
			return token.Token{}, ctx.Err()
		}), &resourceServer{takes: map[string][]string{"t1": nil}}, nil)
		ctx, stop := context.WithTimeoutCause(t.Context(), time.Second, errors.New("enough"))
		defer stop()
		if got := post(ctx, c, endpoint, ""); got != "enough" {
			t.Error(got)
		}
		if err := <-stopped; err == nil {
			t.Error("it was not stopped")
		}
		if got := post(t.Context(), c, endpoint, ""); got != "200" { // that was no failure of the source
			t.Error(got)
		}
	})
}

func TestStaticAndFileTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &resourceServer{takes: map[string][]string{"fixed": nil, "two": nil}}
		if got := post(t.Context(), rig(t, token.Static("fixed"), s, nil), endpoint, ""); got != "200" {
			t.Error(got)
		}
		s.set(func() { delete(s.takes, "fixed") })
		if got := post(t.Context(), rig(t, token.Static("fixed"), s, nil), endpoint, ""); got != "401" {
			t.Error(got)
		}
		path := filepath.Join(t.TempDir(), "token")
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("one\n")
		s.set(func() { s.takes["one"] = nil })
		c := rig(t, token.File(path), s, nil)
		s.take()
		post(t.Context(), c, endpoint, "")
		write(" two \n")
		time.Sleep(61 * time.Second)
		post(t.Context(), c, endpoint, "")
		write("three")
		s.set(func() { s.takes = map[string][]string{"three": nil} })
		post(t.Context(), c, endpoint, "") // refused, read again at once
		if diff := cmp.Diff([]string{"one", "two", "two", "three"}, s.take()); diff != "" {
			t.Error(diff)
		}
	})
}

// W38.13
func TestATokenDoesNotShow(t *testing.T) {
	const canary = "canary-token-0123456789"
	tok := token.Token{Value: canary}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "token", tok, "pointer", &tok)
	encoded, err := json.Marshal(map[string]any{"t": tok, "p": &tok})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{log.String(), string(encoded), fmt.Sprintf("%v %+v %#v %s %q %x %d", tok, tok, tok, tok, tok, tok, tok), fmt.Sprint(tok, &tok, []token.Token{tok})} {
		if strings.Contains(text, canary) || strings.Contains(text, fmt.Sprintf("%x", canary)) || !strings.Contains(text, "REDACTED") {
			t.Errorf("it shows in %s", text)
		}
	}
	if fmt.Sprint(token.Token{}) != "no token" {
		t.Error("an empty token is one")
	}
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	if _, err := token.New(token.Options{Resource: endpoint}); err == nil {
		t.Error("without a source")
	}
	if _, err := token.New(token.Options{Resource: "/mcp", Source: token.Static("x")}); err == nil {
		t.Error("without an address")
	}
}
