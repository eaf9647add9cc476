package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// W38.7, C21
func TestTheCanonicalAddressOfAResource(t *testing.T) {
	for address, want := range map[string]string{
		"https://h.example/mcp":        "https://h.example/.well-known/oauth-protected-resource/mcp",
		"HTTPS://H.Example:443/mcp/":   "https://h.example/.well-known/oauth-protected-resource/mcp",
		"https://h.example":            "https://h.example/.well-known/oauth-protected-resource",
		"https://h.example/":           "https://h.example/.well-known/oauth-protected-resource",
		"https://h.example:8443/a/mcp": "https://h.example:8443/.well-known/oauth-protected-resource/a/mcp",
		"http://[::1]:80/mcp":          "http://[::1]/.well-known/oauth-protected-resource/mcp",
		"https://h.example/a%2Fb/MCP":  "https://h.example/.well-known/oauth-protected-resource/a%2Fb/MCP",
		"mcp.example.com":              "",
		"ftp://h.example/mcp":          "",
		"https:///mcp":                 "",
		"https://h.example/mcp#":       "",
		"https://h.example/mcp#x":      "",
		"https://h.example/mcp?x=1":    "",
		"https://h.example/mcp?":       "",
		"https://alice@h.example/mcp":  "",
		"https://h.example/\x00":       "",
		"https://h.example:443/a/../b": "https://h.example/.well-known/oauth-protected-resource/a/../b",
		"http://h.example:443/mcp":     "http://h.example:443/.well-known/oauth-protected-resource/mcp",
	} {
		u, err := metadata.Canonical(address)
		if err != nil {
			if want != "" {
				t.Errorf("%q: %v", address, err)
			}
			continue
		}
		if got := metadata.ResourceURL(u); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
		if again, err := metadata.Canonical(u.String()); err != nil || again.String() != u.String() {
			t.Errorf("%q became %v, %v", u, again, err)
		}
	}
}

func TestWhichResourcesADocumentSpeaksFor(t *testing.T) {
	target, err := metadata.Canonical("https://h.example/a/mcp")
	if err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]bool{
		"https://h.example/a/mcp": true, "https://h.example/a/mcp/": true, "HTTPS://H.EXAMPLE:443/a/mcp": true,
		"https://h.example/a": true, "https://h.example": true, "https://h.example/": true,
		"https://h.example/a/mcp/b": false, "https://h.example/a/mc": false, "https://h.example/A/mcp": false,
		"http://h.example/a/mcp": false, "https://h.example:444/a/mcp": false, "https://h.example.evil/a/mcp": false, "nonsense": false,
	} {
		if got := (&metadata.Resource{Resource: named}).Covers(target); got != want {
			t.Errorf("%q: %v", named, got)
		}
	}
}

func TestHowFarInsideAnAddressIs(t *testing.T) {
	for text, want := range map[string]metadata.Reach{
		"8.8.8.8": metadata.Public, "2606:4700::1": metadata.Public, "64:ff9b::808:808": metadata.Public,
		"10.1.2.3": metadata.Private, "172.16.0.1": metadata.Private, "192.168.1.1": metadata.Private, "100.64.0.1": metadata.Private,
		"fd12::1": metadata.Private, "64:ff9b::a01:203": metadata.Private, "2002:a01:203::1": metadata.Private, "::ffff:10.0.0.1": metadata.Private,
		"127.0.0.1": metadata.Loopback, "127.9.9.9": metadata.Loopback, "::1": metadata.Loopback, "::ffff:127.0.0.1": metadata.Loopback, "64:ff9b::7f00:1": metadata.Loopback,
		"169.254.169.254": metadata.Nowhere, "::ffff:169.254.169.254": metadata.Nowhere, "64:ff9b::a9fe:a9fe": metadata.Nowhere,
		"2002:a9fe:a9fe::1": metadata.Nowhere, "::169.254.169.254": metadata.Nowhere, "64:ff9b:1::a9fe:a9fe": metadata.Nowhere, "fd00:ec2::254": metadata.Nowhere,
		"fe80::1%eth0": metadata.Nowhere, "0.0.0.0": metadata.Nowhere, "0.1.2.3": metadata.Nowhere, "::": metadata.Nowhere, "224.0.0.1": metadata.Nowhere, "ff02::1": metadata.Nowhere, "2001::1": metadata.Nowhere,
		"255.255.255.255": metadata.Nowhere, "192.0.0.192": metadata.Nowhere,
	} {
		if got := metadata.ReachOf(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
	if metadata.ReachOf(netip.Addr{}) != metadata.Nowhere {
		t.Error("no address is somewhere")
	}
}

// site is a server whose documents are a map; it notes what was asked for.
type site struct {
	*httptest.Server
	docs  map[string]func(w http.ResponseWriter)
	asked []string
}

func newSite(t *testing.T, docs map[string]string) *site {
	s := &site{docs: map[string]func(http.ResponseWriter){}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.URL.Path)
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Errorf("%s came with credentials", r.URL)
		}
		if answer := s.docs[r.URL.Path]; answer != nil {
			answer(w)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	for path, doc := range docs {
		doc = strings.ReplaceAll(doc, "$", s.URL)
		s.docs[path] = func(w http.ResponseWriter) { _, _ = w.Write([]byte(doc)) }
	}
	return s
}

func (s *site) resource(t *testing.T) *url.URL {
	u, err := metadata.Canonical(s.URL + "/mcp")
	if err != nil {
		t.Fatal(err)
	}
	return u
}

const (
	prmMCP  = "/.well-known/oauth-protected-resource/mcp"
	prmRoot = "/.well-known/oauth-protected-resource"
	asRoot  = "/.well-known/oauth-authorization-server"
	asPath  = asRoot + "/t"
	oidRoot = "/.well-known/openid-configuration"
	oidIns  = oidRoot + "/t"
	oidApp  = "/t" + oidRoot
)

// W38.4, W38.6, W38.17
func TestTheLadderOfDiscovery(t *testing.T) {
	const doc = `{"resource":"$/mcp","authorization_servers":["$"]}`
	const docT = `{"resource":"$/mcp","authorization_servers":["$/t","$/other"]}`
	const server, serverT = `{"issuer":"$","token_endpoint":"$/tok"}`, `{"issuer":"$/t","token_endpoint":"$/tok"}`
	for name, tc := range map[string]struct {
		docs  map[string]string
		hint  string
		want  string // the token endpoint, or a part of the error
		asked []string
	}{
		"where the challenge points":       {map[string]string{"/meta": doc, asRoot: server}, "$/meta", "$/tok", []string{"/meta", asRoot}},
		"where it points is nothing":       {map[string]string{prmMCP: doc, asRoot: server}, "$/mcp/.well-known/x", "$/tok", []string{"/mcp/.well-known/x", prmMCP, asRoot}},
		"at the path":                      {map[string]string{prmMCP: doc, prmRoot: `{"resource":"wrong"}`, asRoot: server}, "", "$/tok", []string{prmMCP, asRoot}},
		"at the root":                      {map[string]string{prmRoot: `{"resource":"$","authorization_servers":["$"]}`, asRoot: server}, "", "$/tok", []string{prmMCP, prmRoot, asRoot}},
		"a page of HTML is no document":    {map[string]string{prmMCP: "<html>", prmRoot: doc, asRoot: "<!doctype", oidRoot: server}, "", "$/tok", []string{prmMCP, prmRoot, asRoot, oidRoot}},
		"an issuer with a path":            {map[string]string{prmMCP: docT, asPath: serverT}, "", "$/tok", []string{prmMCP, asPath}},
		"an issuer with a path, inserted":  {map[string]string{prmMCP: docT, oidIns: serverT}, "", "$/tok", []string{prmMCP, asPath, oidIns}},
		"an issuer with a path, appended":  {map[string]string{prmMCP: docT, oidApp: serverT}, "", "$/tok", []string{prmMCP, asPath, oidIns, oidApp}},
		"before there were such documents": {map[string]string{asRoot: server}, "", "$/tok", []string{prmMCP, prmRoot, asRoot}},
		"and none of any kind":             {nil, "", "$/token", []string{prmMCP, prmRoot, asRoot, oidRoot}},

		"announced, and not there":                  {map[string]string{asRoot: server}, "$/meta", "no document there", []string{"/meta", prmMCP, prmRoot}},
		"a document without an issuer":              {map[string]string{prmMCP: `{"resource":"$/mcp"}`, asRoot: server}, "", "names no authorization server", []string{prmMCP}},
		"a document for another resource":           {map[string]string{prmMCP: `{"resource":"$/other","authorization_servers":["$"]}`, prmRoot: doc, asRoot: server}, "", "speaks for another resource", []string{prmMCP}},
		"a document with names in other case":       {map[string]string{prmMCP: `{"Resource":"$/mcp","authorization_servers":["$"]}`, asRoot: server}, "", "names no resource", []string{prmMCP}},
		"a document with a name twice":              {map[string]string{prmMCP: `{"resource":"$/mcp","resource":"$/x"}`}, "", "metadata: ", []string{prmMCP}},
		"an issuer without a document":              {map[string]string{prmMCP: doc}, "", "of the issuer", []string{prmMCP, asRoot, oidRoot}},
		"a document of another issuer":              {map[string]string{prmMCP: doc, asRoot: `{"issuer":"https://honest.example"}`, oidRoot: server}, "", "another issuer", []string{prmMCP, asRoot}},
		"an issuer with one slash more":             {map[string]string{prmMCP: doc, asRoot: `{"issuer":"$/"}`}, "", "another issuer", []string{prmMCP, asRoot}},
		"a document that is too large":              {map[string]string{prmMCP: `{"x":"` + strings.Repeat("x", 300<<10) + `"}`, prmRoot: doc}, "", "more than", []string{prmMCP}},
		"an issuer that is no address":              {map[string]string{prmMCP: `{"resource":"$/mcp","authorization_servers":["x"]}`}, "", "the issuer is no address", []string{prmMCP}},
		"an issuer by plain http, elsewhere":        {map[string]string{prmMCP: `{"resource":"$/mcp","authorization_servers":["http://as.example"]}`}, "", `not fetched by "http"`, []string{prmMCP}},
		"an issuer that is a file":                  {map[string]string{prmMCP: `{"resource":"$/mcp","authorization_servers":["file://h/etc/passwd"]}`}, "", `not fetched by "file"`, []string{prmMCP}},
		"a challenge that points to a user's place": {nil, "http://a@127.0.0.1/x", "or a user", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, tc.docs)
			f := &metadata.Fetcher{Reach: metadata.Loopback}
			got, err := f.Discover(t.Context(), s.resource(t), strings.ReplaceAll(tc.hint, "$", s.URL), nil)
			var text string
			if err != nil {
				text = err.Error()
			} else {
				text = got.Server.TokenEndpoint
			}
			want := strings.ReplaceAll(tc.want, "$", s.URL)
			if err == nil && text != want || err != nil && (!strings.Contains(text, want) || strings.HasPrefix(tc.want, "$")) {
				t.Errorf("got %q, want %q", text, want)
			}
			if diff := cmp.Diff(tc.asked, s.asked); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAFaultOnTheLadderIsNoStepDown(t *testing.T) {
	for _, status := range []int{408, 429, 500, 502, 503} {
		s := newSite(t, map[string]string{prmRoot: `{"resource":"$/mcp","authorization_servers":["$"]}`, asRoot: `{"issuer":"$"}`})
		s.docs[prmMCP] = func(w http.ResponseWriter) { w.WriteHeader(status) }
		_, err := (&metadata.Fetcher{Reach: metadata.Loopback}).Discover(t.Context(), s.resource(t), "", nil)
		if err == nil || errors.Is(err, metadata.ErrAbsent) || len(s.asked) != 1 {
			t.Errorf("%d: %v after %q", status, err, s.asked)
		}
	}
}

func TestOneOfSeveralIssuersIsChosen(t *testing.T) {
	s := newSite(t, map[string]string{prmMCP: `{"resource":"$/mcp","authorization_servers":["$/no","$/t"]}`, asPath: `{"issuer":"$/t"}`})
	got, err := (&metadata.Fetcher{Reach: metadata.Loopback}).Discover(t.Context(), s.resource(t), "", func(issuers []string) string { return issuers[1] })
	if err != nil || got.Server.Issuer != s.URL+"/t" || got.Resource.Resource != s.URL+"/mcp" {
		t.Errorf("%+v, %v", got, err)
	}
}

// A canary on this machine must hear nothing of a public server's hints.
func TestNobodyIsSentFurtherInside(t *testing.T) {
	canary := newSite(t, nil)
	port := canary.URL[strings.LastIndex(canary.URL, ":"):]
	for _, reach := range []metadata.Reach{metadata.Public, metadata.Private} {
		for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "127.1.1.1"} {
			for _, scheme := range []string{"http://", "https://"} {
				// PlainHTTP, so that it is the address that is refused.
				f := &metadata.Fetcher{Reach: reach, PlainHTTP: true}
				_, err := f.Get(t.Context(), scheme+host+port+"/x")
				var blocked *metadata.BlockedError
				if !errors.As(err, &blocked) {
					t.Errorf("%s%s from %d: %v", scheme, host, reach, err)
				}
			}
		}
	}
	for _, reach := range []metadata.Reach{metadata.Public, metadata.Private, metadata.Loopback, metadata.Nowhere} {
		for _, host := range []string{"169.254.169.254", "[fe80::1]", "0.0.0.0", "[::]", "[64:ff9b::a9fe:a9fe]"} {
			_, err := (&metadata.Fetcher{Reach: reach, PlainHTTP: true}).Get(t.Context(), "http://"+host+port+"/latest/meta-data")
			var blocked *metadata.BlockedError
			if !errors.As(err, &blocked) {
				t.Errorf("%s from %d: %v", host, reach, err)
			}
		}
	}
	if len(canary.asked) != 0 {
		t.Errorf("the canary heard %q", canary.asked)
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	canary := newSite(t, map[string]string{"/x": `{}`})
	s := newSite(t, nil)
	s.docs["/x"] = func(w http.ResponseWriter) {
		w.Header().Set("Location", canary.URL+"/x")
		w.WriteHeader(http.StatusFound)
	}
	if _, err := (&metadata.Fetcher{Reach: metadata.Loopback}).Get(t.Context(), s.URL+"/x"); !errors.Is(err, metadata.ErrAbsent) || len(canary.asked) != 0 {
		t.Errorf("%v, the canary heard %q", err, canary.asked)
	}
}

func TestASlowDocumentIsGivenUp(t *testing.T) {
	slow := roundTripper(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := (&metadata.Fetcher{Transport: slow}).Get(ctx, "https://h.example/x"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestListsOfOthersAreCut(t *testing.T) {
	raw := fmt.Sprintf(`{"resource":"https://h/","scopes_supported":[%s"last",1]}`, strings.Repeat(`"s",`, 1000))
	r, err := metadata.ParseResource([]byte(raw))
	if err != nil || len(r.ScopesSupported) > 128 || slices.Contains(r.ScopesSupported, "last") {
		t.Errorf("%d, %v", len(r.ScopesSupported), err)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add([]byte(`{"resource":"https://h.example/mcp","authorization_servers":["https://as"],"issuer":"i"}`))
	f.Add([]byte(`{"resource":1,"authorization_servers":{}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if r, err := metadata.ParseResource(raw); err == nil {
			if r.Resource == "" {
				t.Error("a document about nothing")
			}
			if encoded, err := r.Encode(); err != nil {
				t.Error(err)
			} else if _, err := metadata.ParseResource(encoded); err != nil {
				t.Errorf("%s: %v", encoded, err)
			}
		}
		if s, err := metadata.ParseServer(raw, "i"); err == nil && s.Issuer != "i" {
			t.Error("a document of somebody else")
		}
	})
}
