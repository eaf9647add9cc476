package token_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
	"github.com/fairlead-dev/fairlead/runtime/auth/token"
)

// site is a real server behind a guard, with its authorization server on the
// same listener; issued is what that made so far.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	issued map[string][]string
}

func newSite(t *testing.T) *site {
	s := &site{issued: map[string][]string{}}
	var handler http.Handler
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	t.Cleanup(s.Close)
	g, err := guard.New(guard.Options{
		Resource: s.URL + "/mcp", AuthorizationServers: []string{s.URL}, Scopes: []string{"mcp"},
		Checker: auth.CheckerFunc(func(_ context.Context, token string, _ *http.Request) (*auth.Identity, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			scopes, known := s.issued[token]
			if !known {
				return nil, auth.Refuse(auth.InvalidToken, "unknown")
			}
			return &auth.Identity{Principal: "p", Scopes: scopes}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", g.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if lack := auth.NeedScopes(auth.FromContext(r.Context()), strings.Fields(r.URL.Query().Get("needs"))...); lack != nil {
			w.Header().Set("WWW-Authenticate", g.Challenge(lack))
			w.WriteHeader(lack.Code.Status())
		}
	})))
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": s.URL, "token_endpoint": s.URL + "/token"})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		value := fmt.Sprint("issued-", len(s.issued))
		s.issued[value] = strings.Fields(r.URL.Query().Get("scope"))
		_, _ = w.Write([]byte(value))
	})
	handler = g.Handler(mux)
	return s
}

// grant is a Source that does what a metadata document says.
func grant(ctx context.Context, need token.Need) (token.Token, error) {
	if need.Reason == token.First {
		return token.Token{}, token.ErrNone
	}
	found, err := need.Discover(ctx)
	if err != nil {
		return token.Token{}, err
	}
	r, err := http.NewRequestWithContext(ctx, "POST", found.Server.TokenEndpoint+"?scope="+strings.Join(need.Scopes, "+"), nil)
	if err != nil {
		return token.Token{}, err
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return token.Token{}, err
	}
	defer resp.Body.Close()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		return token.Token{}, err
	}
	return token.Token{Value: b.String()[strings.LastIndex(b.String(), "issued-"):]}, nil
}

// The whole way with real connections: 401, metadata, token; 403, more scopes.
func TestFromTheFirst401ToATokenThatWillDo(t *testing.T) {
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	s := newSite(t)
	var heard []string
	c := rig(t, token.SourceFunc(grant), nil, func(o *token.Options) {
		o.Resource = s.URL + "/mcp"
		o.Observe = func(e token.Event) { heard = append(heard, fmt.Sprint(e.Reason, e.Scopes)) }
	})
	for _, query := range []string{"", "?needs=read", "?needs=read+write", "?needs=read"} {
		if got := post(t.Context(), c, s.URL+"/mcp"+query, "body"); got != "200" {
			t.Errorf("%q: %s, heard %q", query, got, heard)
		}
	}
	if diff := cmp.Diff([]string{"first[]", "refused[mcp]", "scope[mcp read]", "scope[mcp read write]"}, heard); diff != "" {
		t.Error(diff)
	}
}

// An authorization server that the metadata of a stranger names hears
// of no token, and a redirect carries none away.
func TestRedirectsAndMetadataCarryNoTokenAway(t *testing.T) {
	defer http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	canary := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Errorf("the canary got a token for %s", r.URL)
		}
	}))
	defer canary.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, canary.URL+"/steal", http.StatusTemporaryRedirect)
	}))
	defer s.Close()
	c := rig(t, token.Static("canary-token-0123456789"), nil, func(o *token.Options) { o.Resource = s.URL + "/mcp" })
	resp, err := (&http.Client{Transport: c}).Post(s.URL+"/mcp", "application/json", strings.NewReader("{}"))
	if err != nil || resp.StatusCode != 200 || resp.Request.URL.Path != "/steal" {
		t.Fatalf("%v, %v: the redirect was not followed", resp, err)
	}
	_ = resp.Body.Close()
}

// A public server cannot have us look at this machine: the connection tells
// where it is, and its hints may not lead further inside.
func TestAServerCannotSendUsFurtherInside(t *testing.T) {
	canary := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the canary was asked for %s", r.URL)
	}))
	defer canary.Close()
	for name, hint := range map[string]string{
		"plain":       canary.URL + "/meta",
		"by https":    "https" + strings.TrimPrefix(canary.URL, "http") + "/meta",
		"cloud":       "http://169.254.169.254/latest/meta-data",
		"a file":      "file:///etc/passwd",
		"with a user": "http://u:p@127.0.0.1/meta",
	} {
		t.Run(name, func(t *testing.T) {
			var found error
			src := token.SourceFunc(func(ctx context.Context, need token.Need) (token.Token, error) {
				if need.Reason == token.First {
					return token.Token{}, token.ErrNone
				}
				_, found = need.Discover(ctx)
				return token.Token{}, token.ErrNoOther
			})
			if got := post(t.Context(), rig(t, src, &resourceServer{meta: hint}, nil), endpoint, ""); got != "401" || found == nil {
				t.Errorf("%s, %v", got, found)
			}
			var blocked *metadata.BlockedError
			if name == "by https" && !errors.As(found, &blocked) {
				t.Errorf("refused for another reason: %v", found)
			}
		})
	}
}

func TestWhatWasFoundIsRememberedUntilTheServerPointsElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		docs := roundTripper(func(r *http.Request) (*http.Response, error) {
			asked = append(asked, r.URL.Path)
			w := httptest.NewRecorder()
			if strings.HasPrefix(r.URL.Path, "/meta") {
				_, _ = fmt.Fprintf(w, `{"resource":%q,"authorization_servers":["https://as.example%s"]}`, endpoint, strings.TrimPrefix(r.URL.Path, "/meta"))
			} else {
				_, _ = fmt.Fprintf(w, `{"issuer":"https://as.example%s"}`, strings.TrimPrefix(r.URL.Path, "/.well-known/oauth-authorization-server"))
			}
			return w.Result(), nil
		})
		s := &resourceServer{meta: "https://h.example/meta/1"}
		issuers := []string{}
		c := rig(t, token.SourceFunc(func(ctx context.Context, need token.Need) (token.Token, error) {
			if found, err := need.Discover(ctx); err == nil {
				issuers = append(issuers, found.Server.Issuer)
			} else if need.Reason != token.First {
				t.Error(err)
			}
			return token.Token{}, token.ErrNone
		}), s, func(o *token.Options) { o.Fetcher = &metadata.Fetcher{Transport: docs} })
		try := func(wantFetches int, wantIssuer string) {
			t.Helper()
			asked = nil
			post(t.Context(), c, endpoint, "")
			if len(asked) != wantFetches || issuers[len(issuers)-1] != wantIssuer {
				t.Errorf("%d fetches, %q", len(asked), issuers)
			}
		}
		post(t.Context(), c, endpoint, "") // without a token and a hint there is nothing
		try(0, "https://as.example/1")
		s.set(func() { s.meta = "" })
		try(0, "https://as.example/1")
		time.Sleep(20 * time.Minute)
		try(2, "https://as.example/1")
		s.set(func() { s.meta = "https://h.example/meta/2" })
		try(2, "https://as.example/2")
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestManyRequestsStepUpTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &resourceServer{takes: map[string][]string{"t1": nil, "t2": {"x"}}}
		src := &source{}
		c := rig(t, src, s, nil)
		post(t.Context(), c, endpoint, "")
		s.set(func() { s.needs = []string{"x"} })
		src.delay = time.Second
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if got := post(t.Context(), c, endpoint, ""); got != "200" {
					t.Error(got)
				}
			})
		}
		wg.Wait()
		if diff := cmp.Diff([]string{"first", "scope x"}, src.take()); diff != "" {
			t.Error(diff)
		}
	})
}

func ExampleAuth() {
	a, err := token.New(token.Options{
		Resource: "https://tools.example.com/mcp",
		Source:   token.Static("a-token-from-somewhere"),
	})
	if err != nil {
		panic(err)
	}
	for _, address := range []string{"https://tools.example.com/mcp", "https://elsewhere.example.com/mcp"} {
		r, _ := http.NewRequestWithContext(context.Background(), "POST", address, nil)
		if err := a.Authorize(r); err != nil {
			panic(err)
		}
		fmt.Println(r.URL.Host, r.Header.Get("Authorization") != "")
	}
	// Output:
	// tools.example.com true
	// elsewhere.example.com false
}
