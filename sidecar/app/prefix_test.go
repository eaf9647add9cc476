package app

import (
	"bufio"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// C19, B15.5, W13.2: behind an ingress that takes a prefix off, the endpoint
// that HTTP+SSE names lies below the prefix, because it is told relative to
// where the client asked; what the ingress says of the prefix is not read.
func TestTheOlderTransportBehindAPrefix(t *testing.T) {
	r := ready(t, nil)
	l := config.DefaultLive()
	l.Protocol.HTTPSSE = true
	digest := r.putLive(l)
	r.until("the new digest", func() bool { return r.statusNow().LiveDigest == digest })
	paths := make(chan string, 10)
	ingress := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		paths <- req.URL.Path
		to := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: r.Address()})
		to.FlushInterval = -1
		req.Header.Set("X-Forwarded-Prefix", "/elsewhere")
		http.StripPrefix("/crm", to).ServeHTTP(w, req)
	}))
	defer ingress.Close()
	stream, err := http.Get(ingress.URL + "/crm/mcp")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	lines := bufio.NewReader(stream.Body)
	data := func(event string) string {
		t.Helper()
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				t.Fatalf("no %s: %v", event, err)
			}
			if line == "event: "+event+"\n" {
				line, _ = lines.ReadString('\n')
				return strings.TrimSpace(strings.TrimPrefix(line, "data: "))
			}
		}
	}
	endpoint := data("endpoint")
	at, err := stream.Request.URL.Parse(endpoint)
	if err != nil || at.Path != "/crm/mcp" || !strings.HasPrefix(at.String(), ingress.URL) || strings.Contains(endpoint, "/") {
		t.Fatalf("%q leads to %s, %v", endpoint, at, err)
	}
	res, err := http.Post(at.String(), "application/json", strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusAccepted {
		t.Errorf("POST to %s: %d", at, res.StatusCode)
	}
	if got := data("message"); !strings.Contains(got, `"protocolVersion":"2025-06-18"`) {
		t.Error(got)
	}
	for range 2 {
		if got := <-paths; got != "/crm/mcp" {
			t.Errorf("the client asked for %s", got)
		}
	}
}

// B15.1, W10.6: a session is its pod's. To another one, and to the next life of
// its own, it is unknown, which is 404; initialize goes on from there, also
// with the dead id.
func TestASessionOfAnotherPodIsUnknown(t *testing.T) {
	first, second := ready(t, nil), ready(t, func(c *Config, _ string) { c.PodUID = "another" })
	again := ready(t, nil)
	first.open()
	for name, other := range map[string]*rig{"another pod": second, "another life": again} {
		other.session = first.session
		resp, body, err := other.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
		if err != nil || resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %v %s %v", name, resp, body, err)
		}
		resp, body, err = other.post(initialize)
		if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Mcp-Session-Id") == first.session || resp.Header.Get("Mcp-Session-Id") == "" {
			t.Errorf("%s, initialize: %v %s %v", name, resp, body, err)
		}
	}
	if resp, body, err := first.post(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("its own pod: %v %s %v", resp, body, err)
	}
}
