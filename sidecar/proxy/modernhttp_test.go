package proxy_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	uphttp "github.com/fairlead-dev/fairlead/sidecar/upstream/http"
)

// page is a modern workload on a port, which keeps what it was sent.
type page struct {
	// tool is what tools/list says of its one tool.
	tool func() string
	// call answers tools/call.
	call func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message)

	mu    sync.Mutex
	log   []string
	heads []http.Header
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := jsonrpc.Parse(body, strictjson.FromWorkload)
	if err != nil {
		http.Error(w, "what?", 400)
		return
	}
	p.mu.Lock()
	p.log = append(p.log, m.Method)
	p.heads = append(p.heads, r.Header)
	p.mu.Unlock()
	switch m.Method {
	case "server/discover":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{%s,"ttlMs":0,"cacheScope":"private"}}`, m.ID, discoverResult)
	case "tools/list":
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","tools":[%s],"ttlMs":0,"cacheScope":"private"}}`, m.ID, p.tool())
	case "tools/call":
		p.call(w, r, m)
	case "subscriptions/listen":
		<-r.Context().Done()
	default:
		w.WriteHeader(404)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID)
	}
}

// seen are the methods since the last look, discover and listen aside.
func (p *page) seen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, m := range p.log {
		if m != "server/discover" && m != "subscriptions/listen" {
			out = append(out, m)
		}
	}
	p.log = nil
	return strings.Join(out, " ")
}

// inFront serves the front before a page.
func inFront(t *testing.T, p *page) *rig {
	t.Helper()
	hs := httptest.NewServer(p)
	u, _ := url.Parse(hs.URL)
	_, port, _ := net.SplitHostPort(u.Host)
	n, _ := strconv.Atoi(port)
	w := uphttp.New(uphttp.Config{Port: n, Path: "/mcp", Hold: 5 * time.Second, Era: upstream.EraModern})
	r := &rig{t: t, events: &events{}}
	r.front = front(t, proxy.New(proxy.Config{Workload: w, Keys: ring(t), Hooks: r.events.hooks()}), func() {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
		defer stop()
		w.Shutdown(ctx)
		hs.CloseClientConnections()
		hs.Close()
	}, r)
	return r
}

func echoCall(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","content":[],"version":%q,"method":%q,"name":%q,"region":%q,"session":%q,"auth":%q,"other":%q}}`, m.ID,
		r.Header.Get("Mcp-Protocol-Version"), r.Header.Get("Mcp-Method"), r.Header.Get("Mcp-Name"), r.Header.Get("Mcp-Param-Region"), r.Header.Get("Mcp-Session-Id"), r.Header.Get("Authorization"), r.Header.Get("Mcp-Param-Else"))
}

const annotated = `{"name":"höhe","inputSchema":{"type":"object","properties":{"r":{"type":"string","x-mcp-header":"Region"}}}}`

func TestHeadersAreRebuiltFromTheBody(t *testing.T) { // B5.7, B5.8, B5.11, B14.8, W15.8, W15.20
	p := &page{tool: func() string { return annotated }, call: echoCall}
	r := inFront(t, p)
	const want = `"version":"2026-07-28","method":"tools/call","name":"=?base64?aMO2aGU=?=","region":"eu","session":"","auth":""`
	const also = `"other":"as it is"`
	c := r.legacy()
	if got := c.call("tools/call", `{"name":"höhe","arguments":{"r":"eu"}}`); !strings.Contains(got, want) {
		t.Error(got)
	}
	if got := p.seen(); got != "tools/list tools/call" { // nobody had asked for the list
		t.Error(got)
	}
	c.call("tools/call", `{"name":"höhe","arguments":{"r":"eu"}}`)
	c.call("tools/call", `{"name":"unknown"}`)
	c.call("tools/call", `{"name":"unknown"}`)
	if got := p.seen(); got != "tools/call tools/call tools/call" { // lists are spaced (P25)
		t.Error(got)
	}
	got := r.modern().send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"höhe","arguments":{"r":"eu"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, func(h http.Header) {
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", "tools/call")
		h.Set("Mcp-Name", "=?base64?aMO2aGU=?=")
		h.Set("Mcp-Param-Region", "=?base64?ZXU=?=") // the client's own spelling
		h.Set("Mcp-Param-Else", "as it is")          // no annotation asks for it (W15.8)
		h.Set("Authorization", "Bearer secret")
	}).rest()
	if len(got.messages) != 1 || !strings.Contains(got.messages[0], want) || !strings.Contains(got.messages[0], also) {
		t.Error(got.messages)
	}
}

func TestAHeaderMismatchIsOurs(t *testing.T) { // B5.8, B16
	refuse := func(w http.ResponseWriter, m *jsonrpc.Message) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"no"}}`, m.ID)
	}
	tool := `{"name":"höhe","inputSchema":{"type":"object"}}`
	p := &page{tool: func() string { return tool }}
	p.call = func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		if r.Header.Get("Mcp-Param-Region") == "" {
			refuse(w, m)
			return
		}
		echoCall(w, r, m)
	}
	r := inFront(t, p)
	c := r.legacy()
	c.call("tools/list", "")
	p.seen()
	tool = annotated // and nobody told us
	if got := c.call("tools/call", `{"name":"höhe","arguments":{"r":"eu"}}`); !strings.Contains(got, `"region":"eu"`) {
		t.Error(got)
	}
	if got := p.seen(); got != "tools/call tools/list tools/call" {
		t.Error(got)
	}
	p.call = func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) { refuse(w, m) }
	const want = `{"code":-32603,"message":"the workload refused the request's headers","data":{"reason":"header_mismatch"}}`
	c.want("tools/call", `{"name":"höhe","arguments":{"r":"eu"}}`, want)
	r.modern().want("tools/call", `{"name":"ascii","arguments":{}}`, want)
}

func TestAnUnsupportedRevisionIsAskedAboutOnce(t *testing.T) { // B16
	p := &page{tool: func() string { return annotated }, call: func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		w.WriteHeader(400)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}}`, m.ID)
	}}
	r := inFront(t, p)
	r.modern().want("tools/call", `{"name":"x"}`, `{"code":-32603,"message":"the workload refused the protocol revision","data":{"reason":"unsupported_revision"}}`)
	p.mu.Lock()
	defer p.mu.Unlock()
	if got := strings.Join(p.log, " "); got != "server/discover tools/list tools/call server/discover tools/call" {
		t.Error(got)
	}
}

func TestStatusesOfAModernWorkload(t *testing.T) { // B19.1, B15.10, B16
	status := 0
	p := &page{tool: func() string { return annotated }, call: func(w http.ResponseWriter, _ *http.Request, _ *jsonrpc.Message) { w.WriteHeader(status) }}
	r := inFront(t, p)
	for s, reason := range map[int]string{401: "upstream_auth", 403: "upstream_auth", 404: "http_status", 500: "http_status", 200: "bad_response"} {
		status = s
		for name, c := range map[string]*client{"legacy": r.legacy(), "modern": r.modern()} {
			res := c.request("1", "tools/call", `{"name":"x"}`).rest()
			if res.status != 200 || len(res.messages) != 1 || !strings.Contains(res.messages[0], `"code":-32603`) || !strings.Contains(res.messages[0], `"reason":"`+reason+`"`) || res.header.Get("WWW-Authenticate") != "" {
				t.Errorf("%d, %s: %d %v", s, name, res.status, res.messages)
			}
		}
	}
}

func TestAClosedStreamCancelsAtTheWorkload(t *testing.T) { // B11.6, W14.10, W19.8
	ended := make(chan struct{}, 2)
	p := &page{tool: func() string { return annotated }, call: func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		event(w, m, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":$ID,\"progress\":1}}\n\n")
		<-r.Context().Done()
		ended <- struct{}{}
	}}
	r := inFront(t, p)
	s := r.modern().request("1", "tools/call", `{"name":"x","_meta":{"progressToken":1}}`)
	if m, _ := s.next(); !strings.Contains(m, "progress") {
		t.Error(m)
	}
	s.close()
	<-ended
	// A legacy client that goes away has not cancelled; it says so (B8.8).
	c := r.legacy()
	s = c.request("2", "tools/call", `{"name":"x","_meta":{"progressToken":1}}`)
	if m, _ := s.next(); !strings.Contains(m, "progress") {
		t.Error(m)
	}
	s.close()
	select {
	case <-ended:
		t.Error("a connection that was lost cancelled the request")
	case <-time.After(50 * time.Millisecond):
	}
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	<-ended
}
