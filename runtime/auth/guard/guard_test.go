package guard_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/guard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	resource = "https://h.example/mcp"
	document = "https://h.example/.well-known/oauth-protected-resource/mcp"
	canary   = "canary-token-0123456789"
)

// words is a checker to whom tokens are orders.
func words() auth.Checker {
	return auth.CheckerFunc(func(ctx context.Context, token string, _ *http.Request) (*auth.Identity, error) {
		switch token {
		case "alice":
			return &auth.Identity{Principal: "alice", Scopes: []string{"mcp"}}, nil
		case "weak":
			return &auth.Identity{Principal: "weak"}, nil
		case "old":
			return &auth.Identity{Principal: "old", Scopes: []string{"mcp"}, Expires: time.Now().Add(-time.Second)}, nil
		case "nobody":
			return &auth.Identity{}, nil
		case "nothing":
			return nil, nil
		case "outage":
			return nil, errors.New("the keys cannot be had")
		case "slow":
			<-ctx.Done()
			return nil, ctx.Err()
		}
		return nil, auth.Refuse(auth.InvalidToken, "the token is not known here")
	})
}

func make1(t *testing.T, edit func(*guard.Options)) *guard.Guard {
	t.Helper()
	o := guard.Options{Checker: words(), Resource: resource, AuthorizationServers: []string{"https://as.example"}, Scopes: []string{"mcp"}}
	if edit != nil {
		edit(&o)
	}
	g, err := guard.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// W38.2, W38.5, W38.6, W38.8, W38.9, W38.14
func TestWhoMayPass(t *testing.T) {
	const meta = `resource_metadata="` + document + `"`
	for name, tc := range map[string]struct {
		field, want string
		anonymous   bool
	}{
		"a good token":                       {"Bearer alice", "alice", false},
		"no token":                           {"", `401 not authenticated | Bearer scope="mcp", ` + meta, false},
		"no token, where none is needed":     {"", "nobody", true},
		"a bad token, where none is needed":  {"Bearer x", `401 the token is not known here | Bearer error="invalid_token", error_description="the token is not known here", scope="mcp", ` + meta, true},
		"another scheme":                     {"Basic dTpw", `401 not authenticated | Bearer scope="mcp", ` + meta, false},
		"a broken field":                     {"Bearer a b", `400 the token has characters that no token has | Bearer error="invalid_request", error_description="the token has characters that no token has", scope="mcp", ` + meta, false},
		"a key of some other service":        {"Bearer sk-1234", `401 the token is not known here | Bearer error="invalid_token", error_description="the token is not known here", scope="mcp", ` + meta, false},
		"a token that has ended":             {"Bearer old", `401 the token has expired | Bearer error="invalid_token", error_description="the token has expired", scope="mcp", ` + meta, false},
		"a token without the scopes":         {"Bearer weak", `403 the token lacks the scope mcp | Bearer error="insufficient_scope", error_description="the token lacks the scope mcp", scope="mcp", ` + meta, false},
		"an outage is nobody's fault":        {"Bearer outage", "503 tokens cannot be checked right now | retry after 5s", false},
		"a check without end":                {"Bearer slow", "503 tokens cannot be checked right now | retry after 5s", false},
		"a checker that names nobody":        {"Bearer nobody", "503 tokens cannot be checked right now | retry after 5s", false},
		"a checker that says nothing at all": {"Bearer nothing", "503 tokens cannot be checked right now | retry after 5s", true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := make1(t, func(o *guard.Options) { o.Anonymous = tc.anonymous })
				r := httptest.NewRequest("POST", "http://evil.example/mcp", nil)
				r.Header.Set("X-Forwarded-Host", "evil.example")
				r.Header.Set("Forwarded", "host=evil.example")
				if tc.field != "" {
					r.Header.Set("Authorization", tc.field)
				}
				id, err := g.Authenticate(r)
				got := id.Name()
				var denied *auth.Denied
				switch {
				case errors.As(err, &denied):
					got = fmt.Sprintf("%d %s | %s", denied.Status, denied.Message, denied.Challenge)
					if denied.RetryAfter > 0 {
						got += "retry after " + denied.RetryAfter.String()
					}
				case err != nil:
					t.Fatalf("an error of another kind: %v", err)
				case id == nil:
					got = "nobody"
				}
				if got != tc.want {
					t.Errorf("got  %s\nwant %s", got, tc.want)
				}
			})
		})
	}
}

func TestEveryCheckIsCounted(t *testing.T) {
	got := map[guard.Result]int{}
	g := make1(t, func(o *guard.Options) { o.Checked = func(r guard.Result) { got[r]++ } })
	open := make1(t, func(o *guard.Options) { o.Checked = func(r guard.Result) { got[r]++ }; o.Anonymous = true })
	for _, field := range []string{"", "Bearer", "Bearer x", "Bearer old", "Bearer weak", "Bearer outage", "Bearer alice"} {
		r := httptest.NewRequest("POST", "/mcp", nil)
		if field != "" {
			r.Header.Set("Authorization", field)
		}
		_, _ = g.Authenticate(r)
		if field == "" {
			_, _ = open.Authenticate(r)
		}
	}
	want := map[guard.Result]int{guard.NoToken: 1, guard.Anonymous: 1, guard.Malformed: 1, guard.InvalidToken: 2, guard.InsufficientScope: 1, guard.Unavailable: 1, guard.Accepted: 1}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// W38.10
func TestALaterRefusalNamesAllScopesAtOnce(t *testing.T) {
	g := make1(t, nil)
	lack := auth.NeedScopes(&auth.Identity{Principal: "p", Scopes: []string{"mcp", "read"}}, "read", "write")
	want := `Bearer error="insufficient_scope", error_description="the token lacks the scope write", scope="mcp read write", resource_metadata="` + document + `"`
	if got := g.Challenge(lack); got != want {
		t.Errorf("got %s", got)
	}
	if len(lack.Scopes) != 2 {
		t.Error("the refusal was changed")
	}
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for name, tc := range map[string]struct {
		edit func(*guard.Options)
		want string
	}{
		"no checker":         {func(o *guard.Options) { o.Checker = nil }, "no checker"},
		"no resource":        {func(o *guard.Options) { o.Resource = "" }, "Resource"},
		"a relative one":     {func(o *guard.Options) { o.Resource = "/mcp" }, "not https"},
		"a broken scope":     {func(o *guard.Options) { o.Scopes = []string{"a b"} }, `"a b" is no scope`},
		"offline_access":     {func(o *guard.Options) { o.ScopesSupported = []string{"offline_access"} }, "W38.12"},
		"a broken issuer":    {func(o *guard.Options) { o.AuthorizationServers = []string{"as.example"} }, `"as.example" is no issuer`},
		"a broken local way": {func(o *guard.Options) { o.LocalPaths = []string{"mcp"} }, "slash"},
	} {
		t.Run(name, func(t *testing.T) {
			o := guard.Options{Checker: words(), Resource: resource, AuthorizationServers: []string{"https://as.example"}}
			tc.edit(&o)
			if _, err := guard.New(o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

func TestWithoutIssuersThereIsNoDocument(t *testing.T) {
	g := make1(t, func(o *guard.Options) { o.AuthorizationServers = nil })
	if g.MetadataURL() != "" || g.IsMetadata(httptest.NewRequest("GET", "/.well-known/oauth-protected-resource", nil)) {
		t.Error("there is one")
	}
	if got := g.Challenge(auth.Refuse(auth.NoToken, "")); got != `Bearer scope="mcp"` {
		t.Error(got)
	}
}

// P33.4
func TestAClientThatWaitsIsNotToldToGoOn(t *testing.T) {
	g := make1(t, nil)
	server := httptest.NewServer(g.Protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(w, r.Body)
	})))
	defer server.Close()
	ask := func(field string) string {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n%s\r\n", field)
		line, err := bufio.NewReader(conn).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(line)
	}
	if got := ask("Authorization: Bearer " + canary + "\r\n"); got != "HTTP/1.1 401 Unauthorized" {
		t.Errorf("refused: %s", got)
	}
	if got := ask(""); got != "HTTP/1.1 401 Unauthorized" {
		t.Errorf("without a token: %s", got)
	}
	if got := ask("Authorization: Bearer alice\r\n"); got != "HTTP/1.1 100 Continue" {
		t.Errorf("accepted: %s", got)
	}
}

// B10.8
func TestALongAnswerEndsWithItsToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		end := time.Now().Add(time.Hour)
		g := make1(t, func(o *guard.Options) {
			o.Checker = auth.CheckerFunc(func(context.Context, string, *http.Request) (*auth.Identity, error) {
				return &auth.Identity{Principal: "p", Scopes: []string{"mcp"}, Expires: end}, nil
			})
		})
		r := httptest.NewRequest("GET", "/mcp", nil)
		r.Header.Set("Authorization", "Bearer x")
		var cause error
		g.Protect(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if auth.FromContext(r.Context()).Name() != "p" {
				t.Error("the handler does not know who asks")
			}
			<-r.Context().Done()
			cause = context.Cause(r.Context())
		})).ServeHTTP(httptest.NewRecorder(), r)
		if !errors.Is(cause, auth.ErrExpired) || time.Now().Before(end) {
			t.Errorf("ended with %v at %v", cause, time.Now())
		}
	})
}

// W38.13: what is refused says nothing of the token, wherever it came.
func TestNoTokenIsRepeated(t *testing.T) {
	g := make1(t, nil)
	h := g.Protect(http.NotFoundHandler())
	for _, tc := range []struct{ target, field string }{
		{"/mcp", "Bearer " + canary}, {"/mcp", "Bearer " + canary + " x"}, {"/mcp", canary}, {"/mcp", "Bearer \"" + canary},
		{"/mcp?access_token=" + canary, ""}, {"/mcp?access_token=" + canary, "Bearer " + canary},
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", tc.target, nil)
		r.Header.Set("Authorization", tc.field)
		h.ServeHTTP(w, r)
		if w.Code != 400 && w.Code != 401 {
			t.Errorf("%+v: %d", tc, w.Code)
		}
		if all := fmt.Sprint(w.Header(), w.Body); strings.Contains(all, canary) {
			t.Errorf("%+v: %s", tc, all)
		}
		if _, err := g.Authenticate(r); err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), canary) {
			t.Errorf("%+v: the error is %v", tc, err)
		}
	}
}
