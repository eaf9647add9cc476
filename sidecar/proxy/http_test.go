package proxy_test

import (
	"cmp"
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

// site is a workload on a port: tool calls are answered by serve, the rest as
// usual servers do.
type site struct {
	serve        func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message)
	capabilities string // of its own
	deaf         bool   // it has no standalone streams

	mu       sync.Mutex
	sessions int
	valid    map[string]bool
	headers  []http.Header
	answers  chan string // responses that were posted
	listen   chan string // events for the standalone streams
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	m, err := jsonrpc.Parse(body, strictjson.FromWorkload)
	if err != nil {
		m = &jsonrpc.Message{}
	}
	s.mu.Lock()
	s.headers = append(s.headers, r.Header)
	known := s.valid[r.Header.Get("Mcp-Session-Id")]
	s.mu.Unlock()
	switch {
	case m.Method == "initialize":
		s.mu.Lock()
		s.sessions++
		id := fmt.Sprint("w", s.sessions)
		s.valid[id] = true
		s.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", id)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-06-18","capabilities":%s,"serverInfo":{"name":"site","version":"1"}}}`,
			m.ID, cmp.Or(s.capabilities, `{"tools":{},"resources":{}}`))
	case !known:
		http.Error(w, `{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}`, 404)
	case r.Method == http.MethodGet && s.deaf:
		http.Error(w, "", http.StatusMethodNotAllowed)
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case e := <-s.listen:
				io.WriteString(w, e)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	case m.Kind == jsonrpc.KindResponse:
		s.answers <- string(m.Raw)
		w.WriteHeader(202)
	case m.Kind == jsonrpc.KindRequest:
		s.serve(w, r, m)
	default:
		w.WriteHeader(202)
	}
}

// event sends one message on a response stream.
func event(w http.ResponseWriter, m *jsonrpc.Message, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, strings.ReplaceAll(text, "$ID", m.ID.String()))
	w.(http.Flusher).Flush()
}

// behind serves the front before a site; edits change the proxy.
func behind(t *testing.T, s *site, edits ...func(*proxy.Config)) *rig {
	t.Helper()
	s.valid, s.answers, s.listen = map[string]bool{}, make(chan string, 10), make(chan string)
	hs := httptest.NewServer(s)
	u, _ := url.Parse(hs.URL)
	_, port, _ := net.SplitHostPort(u.Host)
	n, _ := strconv.Atoi(port)
	w := uphttp.New(uphttp.Config{Port: n, Era: upstream.EraLegacy, Path: "/mcp", Hold: 5 * time.Second})
	r := &rig{t: t, events: &events{}}
	pc := proxy.Config{Workload: w, Keys: ring(t), Hooks: r.events.hooks()}
	for _, edit := range edits {
		edit(&pc)
	}
	r.front = front(t, proxy.New(pc), func() {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
		defer stop()
		w.Shutdown(ctx)
		hs.CloseClientConnections()
		hs.Close()
	}, r)
	return r
}

func ok(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[],"saw":%s}}`, m.ID, m.Raw)
}

func TestC05EventsWithCRLFCutAnywhere(t *testing.T) { // C05, W8.17
	const whole = "event: message\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}\r\n\r\n"
	cut := 0
	r := behind(t, &site{serve: func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		text := strings.ReplaceAll(whole, "$ID", m.ID.String())
		at := len(text) - 1 - cut
		event(w, m, text[:at])
		event(w, m, text[at:])
	}})
	c := r.legacy()
	for cut = range len(whole) - 2 { // "$ID" may have become one digit
		c.want("tools/call", `{"name":"x"}`, `{"content":[]}`)
	}
}

func TestC06NamedEventsBeforeTheAnswer(t *testing.T) { // C06, W13.3, W14.9
	r := behind(t, &site{serve: func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		event(w, m, "event: ping\ndata: ping\n\n: keep\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[]}}\n\n")
	}})
	for _, c := range []*client{r.legacy(), r.modern()} {
		res := c.request("1", "tools/call", `{"name":"x"}`).rest()
		if len(res.messages) != 1 || !strings.HasPrefix(res.messages[0], `{"jsonrpc":"2.0","id":1,"result":{"content":[]`) {
			t.Errorf("%v", res.messages)
		}
	}
}

func TestC20AWorkloadWithAnExactHostList(t *testing.T) { // C20, R19
	var hosts []string
	s := &site{serve: ok}
	r := behind(t, s)
	s.serve = func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		hosts = append(hosts, r.Host)
		if !strings.HasPrefix(r.Host, "localhost:") {
			http.Error(w, "Invalid Host header", 421)
			return
		}
		ok(w, r, m)
	}
	c := r.legacy()
	for range 2 {
		if got := c.call("tools/call", `{"name":"x"}`); !strings.HasPrefix(got, `{"content":[]`) {
			t.Error(got)
		}
	}
	if len(hosts) != 3 || !strings.HasPrefix(hosts[0], "127.0.0.1:") {
		t.Error(hosts)
	}
}

func TestC33AnErrorInsideAnHTTP500(t *testing.T) { // R10
	r := behind(t, &site{serve: func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		w.WriteHeader(500)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32002,"message":"no such book","data":{"uri":"book://x"}}}`, m.ID)
	}})
	r.legacy().want("resources/read", `{"uri":"book://x"}`, `{"code":-32002,"message":"no such book","data":{"uri":"book://x"}}`)
	r.modern().want("resources/read", `{"uri":"book://x"}`, `{"code":-32602,"message":"no such book","data":{"uri":"book://x"}}`)
}

func TestNothingOfTheClientsHTTPReachesTheWorkload(t *testing.T) { // R19, B5.11, W38.15
	s := &site{serve: ok}
	r := behind(t, s)
	for _, c := range []*client{r.legacy(), r.modern()} {
		c.send(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, func(h http.Header) {
			h.Set("Authorization", "Bearer secret")
			h.Set("Cookie", "secret=1")
			h.Set("X-Forwarded-For", "1.2.3.4")
			h.Set("Forwarded", "for=1.2.3.4")
			h.Set("Referer", "https://secret")
			h.Set("Mcp-Param-Region", "secret")
			h.Set("X-Secret", "secret")
			if c.session == "" {
				h.Set("Mcp-Protocol-Version", "2026-07-28")
				h.Set("Mcp-Method", "tools/call")
				h.Set("Mcp-Name", "x")
			}
		}).rest()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.headers) < 6 {
		t.Errorf("%d requests", len(s.headers))
	}
	for _, h := range s.headers {
		for name, values := range h {
			if strings.Contains(fmt.Sprint(values), "secret") || strings.Contains(fmt.Sprint(values), "1.2.3.4") {
				t.Errorf("%s: %v", name, values)
			}
		}
	}
}

func TestReverseCallsOverHTTP(t *testing.T) { // B6.1 (2), P6
	const ask = "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"sampling/createMessage\",\"params\":{}}\n\n"
	s := &site{}
	s.serve = func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		name, _ := strictjson.Get(m.Params, "name")
		if string(name) == `"own"` {
			event(w, m, ask)
		} else {
			s.listen <- ask
			event(w, m, ": \n\n")
		}
		event(w, m, "data: {\"jsonrpc\":\"2.0\",\"id\":$ID,\"result\":{\"content\":[],\"saw\":"+<-s.answers+"}}\n\n")
	}
	r := behind(t, s)
	c, _ := r.initialize("2025-06-18", capable)
	for _, where := range []string{"own", "standalone"} {
		st := c.request(`"`+where+`"`, "tools/call", `{"name":"`+where+`"}`)
		if got := c.answered(st, `"result":{"model":"m"}`); got != "sampling/createMessage {}" {
			t.Error(where, got)
		}
		st.want(`{"jsonrpc":"2.0","id":"` + where + `","result":{"content":[],"saw":{"jsonrpc":"2.0","id":"q","result":{"model":"m"}}}}`)
		st.close()
	}
}

func TestAWorkloadThatForgotItsSessions(t *testing.T) { // B3.7, R10
	s := &site{serve: ok}
	r := behind(t, s)
	clients := []*client{r.legacy(), r.modern()}
	for range 2 {
		for _, c := range clients {
			if got := c.call("tools/call", `{"name":"x"}`); !strings.HasPrefix(got, `{"content":[]`) {
				t.Error(got)
			}
		}
		s.mu.Lock()
		s.valid = map[string]bool{}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions != 4 {
		t.Errorf("%d sessions", s.sessions)
	}
}

func TestStatusesOfTheWorkloadStayInside(t *testing.T) { // B15.10, B16, B16.3
	for status, want := range map[int]string{
		401: `{"code":-32603,"message":"the workload refused the sidecar","data":{"reason":"upstream_auth"}}`,
		503: `{"code":-32603,"message":"the workload did not answer","data":{"reason":"http_status"}}`,
	} {
		r := behind(t, &site{serve: func(w http.ResponseWriter, _ *http.Request, _ *jsonrpc.Message) {
			w.Header().Set("WWW-Authenticate", "Bearer foreign")
			http.Error(w, "secret path /etc", status)
		}})
		for _, c := range []*client{r.legacy(), r.modern()} {
			res := c.request("1", "tools/call", `{"name":"x"}`).rest()
			if res.status != 200 || res.header.Get("WWW-Authenticate") != "" || res.messages[0] != `{"jsonrpc":"2.0","id":1,"error":`+want+`}` {
				t.Errorf("%d: %d %v", status, res.status, res.messages)
			}
		}
	}
}

func TestChangesOnTheWorkloadsStandaloneStream(t *testing.T) { // P6
	s := &site{serve: ok}
	r := behind(t, s)
	c := r.legacy()
	get := c.send(http.MethodGet, "", nil)
	defer get.close()
	s.listen <- "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
	get.want(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
}
