package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// server answers by method; what is not in answers is refused.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	log  []string
	next func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message)
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	m, err := jsonrpc.Parse(b, strictjson.FromClient)
	if err != nil {
		m = &jsonrpc.Message{Method: r.Method}
	}
	s.mu.Lock()
	s.log = append(s.log, strings.TrimSpace(m.Method+" "+r.Header.Get("Mcp-Protocol-Version")))
	s.mu.Unlock()
	s.next(w, r, m)
}

func start(t *testing.T, next func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message)) *server {
	t.Helper()
	s := &server{next: next}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *server) connect(t *testing.T, revision string) (*Client, error) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	c, err := Connect(t.Context(), Options{
		Server: HTTP{URL: s.URL + "/mcp", Client: &http.Client{Transport: transport}, NoSSE: true},
		Name:   "t", Version: "0", Revision: revision, Retry: Retry{Attempts: 1},
	})
	if err == nil {
		t.Cleanup(func() { _ = c.Close() })
	}
	return c, err
}

func reply(w http.ResponseWriter, status int, m *jsonrpc.Message, member string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, member)
}

const (
	discovered = `"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{"tools":{}},"instructions":"i","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"m","version":"2"}}}`
	initiated  = `"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"l","version":"1"},"instructions":"i"}`
)

// stranger refuses a request in a message that does not say which.
func stranger(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32600,"message":"sorry"}}`)
}

func TestConnect(t *testing.T) { // W5.16, B1.2, P34
	legacy := func(w http.ResponseWriter, m *jsonrpc.Message) {
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			reply(w, 200, m, initiated)
		default:
			w.WriteHeader(202)
		}
	}
	const first, session = "server/discover 2026-07-28", "initialize,notifications/initialized 2025-06-18,DELETE 2025-06-18"
	for name, tc := range map[string]struct {
		discover func(w http.ResponseWriter, m *jsonrpc.Message)
		revision string // pinned
		want     string // revision, or what the error says
		log      string
	}{
		"a modern server": {
			func(w http.ResponseWriter, m *jsonrpc.Message) { reply(w, 200, m, discovered) }, "", "2026-07-28", first},
		"a server that knows no such method": {
			func(w http.ResponseWriter, m *jsonrpc.Message) {
				reply(w, 200, m, `"error":{"code":-32601,"message":"no"}`)
			}, "", "2025-06-18", first + "," + session},
		"a server that wants a session": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { http.Error(w, "Bad Request: no session", 400) }, "", "2025-06-18", first + "," + session},
		"a server that answers with a page": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { _, _ = io.WriteString(w, "<html>") }, "", "2025-06-18", first + "," + session},
		"a modern server that only lists old revisions": {
			func(w http.ResponseWriter, m *jsonrpc.Message) {
				reply(w, 200, m, `"result":{"supportedVersions":["2025-06-18"],"capabilities":{}}`)
			}, "", "2025-06-18", first + "," + session},
		"-32022 with revisions in common": {
			func(w http.ResponseWriter, m *jsonrpc.Message) {
				reply(w, 400, m, `"error":{"code":-32022,"message":"v","data":{"supported":["2025-11-25"],"requested":"x"}}`)
			}, "", "2025-06-18", first + "," + session},
		"-32022 with none": {
			func(w http.ResponseWriter, m *jsonrpc.Message) {
				reply(w, 400, m, `"error":{"code":-32022,"message":"v","data":{"supported":["2030-01-01"]}}`)
			}, "", "v", first},
		"our own fault is no legacy server": {
			func(w http.ResponseWriter, m *jsonrpc.Message) {
				reply(w, 400, m, `"error":{"code":-32020,"message":"header"}`)
			}, "", "header", first},
		"401 says nothing about the era": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { w.WriteHeader(401) }, "", "upstream_auth (HTTP 401)", first},
		"503 neither": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { w.WriteHeader(503) }, "", "http_status (HTTP 503)", first},
		"401 neither, whatever its body is": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { stranger(w, 401) }, "", "upstream_auth (HTTP 401): sorry", first},
		"nor 503": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { stranger(w, 503) }, "", "http_status (HTTP 503): sorry", first},
		"nor 429": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { stranger(w, 429) }, "", "http_status (HTTP 429): sorry", first},
		"a refusal of what nobody could read": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { stranger(w, 400) }, "", "2025-06-18", first + "," + session},
		"pinned to a session":                           {nil, "2025-06-18", "2025-06-18", session},
		"pinned to one that the server does not choose": {nil, "2025-11-25", `unusable answer to initialize: protocol version "2025-06-18"`, "initialize,DELETE"},
		"pinned to the modern one": {
			func(w http.ResponseWriter, _ *jsonrpc.Message) { w.WriteHeader(404) }, "2026-07-28", "http_status (HTTP 404)", first},
		"pinned to nonsense": {nil, "1", `client: no protocol revision in common: "1" is not known here`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
				if m.Method == "server/discover" {
					tc.discover(w, m)
					return
				}
				legacy(w, m)
			})
			c, err := s.connect(t, tc.revision)
			var got string
			if err != nil {
				got = err.Error()
			} else {
				got = c.Revision()
				if srv := c.Server(); srv.Version == "" && !strings.Contains(name, "only lists") {
					t.Errorf("%+v", srv)
				}
				_ = c.Close()
			}
			if got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if log := strings.Join(s.log, ","); log != tc.log {
				t.Errorf("asked %s, want %s", log, tc.log)
			}
		})
	}
	for _, bad := range []string{"", "stdio://x", "http://", "::"} {
		if _, err := Connect(t.Context(), Options{Server: HTTP{URL: bad}}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// W5.1, W5.8
func TestWhatAStatelessRequestCarries(t *testing.T) { // W6.5, W6.7
	var params string
	s := start(t, func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		if m.Method == "server/discover" {
			reply(w, 200, m, discovered)
			return
		}
		params = string(m.Params)
		reply(w, 200, m, `"result":{"resultType":"complete","n":9007199254740993}`)
	})
	c, err := s.connect(t, "")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := c.Call(t.Context(), "vendor/x", []byte(`{"a":1.0,"_meta":{"k":1}}`))
	if err != nil || string(raw) != `{"resultType":"complete","n":9007199254740993}` {
		t.Errorf("%s, %v", raw, err)
	}
	const want = `{"a":1.0,"_meta":{"k":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"0"}}}`
	if params != want {
		t.Errorf("sent %s", params)
	}
}

// W22.1
func TestListTools(t *testing.T) { // R2
	page := func(tools, cursor string) string { return `"result":{"tools":[` + tools + `]` + cursor + `}` }
	names := func(n ...string) string {
		for i := range n {
			n[i] = `{"name":"` + n[i] + `"}`
		}
		return strings.Join(n, ",")
	}
	for name, tc := range map[string]struct {
		pages  map[string]string // by raw cursor
		want   string
		legacy string // what a session sees, if something else
	}{
		"pages":                    {map[string]string{"": page(names("a", "b"), `,"nextCursor":"1"`), `"1"`: page(names("c"), "")}, "a b c", ""},
		"null ends":                {map[string]string{"": page(names("a"), `,"nextCursor":null`)}, "a", ""},
		"a cursor that leads back": {map[string]string{"": page(names("a"), `,"nextCursor":"1"`), `"1"`: page(names("b"), `,"nextCursor":"1"`)}, "a b", ""},
		"the same page again":      {map[string]string{"": page(names("a"), `,"nextCursor":"1"`), `"1"`: page(names("a"), `,"nextCursor":"1"`)}, "a", ""},
		"an empty cursor":          {map[string]string{"": page(names("a"), `,"nextCursor":""`), `""`: page(names("b"), "")}, "a b", "a"},
		"a spelling of its own":    {map[string]string{"": page(names("a"), `,"nextCursor":"\u0031"`), `"\u0031"`: page(names("b"), "")}, "a b", ""},
		"tools without a name":     {map[string]string{"": page(`{"x":1},`+names("a"), "")}, "a", ""},
		"no list":                  {map[string]string{"": `"result":{}`}, "client: tools/list: the answer has no list of tools", ""},
		"an error":                 {map[string]string{"": `"error":{"code":-32603,"message":"sorry"}`}, "sorry", ""},
	} {
		for _, revision := range []string{"2026-07-28", "2025-06-18"} {
			t.Run(name+", "+revision, func(t *testing.T) {
				s := start(t, func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
					switch m.Method {
					case "server/discover":
						reply(w, 200, m, discovered)
					case "initialize":
						reply(w, 200, m, initiated)
					case "tools/list":
						cursor, _ := strictjson.Get(m.Params, "cursor")
						reply(w, 200, m, tc.pages[string(cursor)])
					default:
						w.WriteHeader(202)
					}
				})
				c, err := s.connect(t, revision)
				if err != nil {
					t.Fatal(err)
				}
				tools, err := c.ListTools(t.Context())
				var got []string
				for _, tool := range tools {
					got = append(got, tool.Name)
				}
				if err != nil {
					got = []string{err.Error()}
				}
				want := tc.want
				if revision != mcp.Revision20260728 && tc.legacy != "" {
					want = tc.legacy
				}
				if strings.Join(got, " ") != want {
					t.Errorf("got %v, want %s", got, want)
				}
			})
		}
	}
}

func TestAListWithoutEnd(t *testing.T) { // R2
	n := 0
	s := start(t, func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		if m.Method == "server/discover" {
			reply(w, 200, m, discovered)
			return
		}
		n++
		reply(w, 200, m, fmt.Sprintf(`"result":{"tools":[],"nextCursor":"%d"}`, n))
	})
	c, err := s.connect(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListTools(t.Context()); err == nil || n != maxPages {
		t.Errorf("%d pages, %v", n, err)
	}
}

// P18: nor one of large pages.
func TestAListWithoutMeasure(t *testing.T) {
	n, pad := 0, strings.Repeat("x", 4<<20)
	s := start(t, func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		if m.Method == "server/discover" {
			reply(w, 200, m, discovered)
			return
		}
		n++
		reply(w, 200, m, fmt.Sprintf(`"result":{"tools":[{"name":"t%d","description":"%s"}],"nextCursor":"%d"}`, n, pad, n))
	})
	c, err := s.connect(t, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.ListTools(t.Context()); err == nil || n != 16 {
		t.Errorf("%d pages, %v", n, err)
	}
}

const annotated = `{"name":"q","inputSchema":{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},"n":{"type":"integer","x-mcp-header":"N"},"f":{"type":"boolean","x-mcp-header":"F"},
	"in":{"type":"object","properties":{"x-mcp-header":{"type":"string","x-mcp-header":"Deep"}}}}}}`

func TestMirroredArguments(t *testing.T) { // W15.16, W15.19, W15.21
	var seen []string
	s := start(t, func(w http.ResponseWriter, r *http.Request, m *jsonrpc.Message) {
		switch m.Method {
		case "server/discover":
			reply(w, 200, m, discovered)
		case "tools/list":
			reply(w, 200, m, `"result":{"tools":[`+annotated+`]}`)
		case "tools/call":
			line := r.Header.Get("Mcp-Name")
			for _, h := range []string{"Region", "N", "F", "Deep"} {
				line += "|" + r.Header.Get("Mcp-Param-"+h)
			}
			seen = append(seen, line)
			if r.Header.Get("Mcp-Param-Region") == "" {
				reply(w, 400, m, `"error":{"code":-32020,"message":"header missing"}`)
				return
			}
			reply(w, 200, m, `"result":{"content":[]}`)
		}
	})
	c, err := s.connect(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{`{"region":"us west","n":42.0,"f":true,"in":{"x-mcp-header":"é"}}`, `{"region":"x","n":null,"f":"yes"}`} {
		if _, err := c.CallTool(t.Context(), "q", []byte(args)); err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([]string{"q||||", "q|us west|42|true|=?base64?w6k=?=", "q|x||yes|"}, seen); diff != "" {
		t.Error(diff)
	}
	if _, err := c.CallTool(t.Context(), "q", nil); rpcError(err) == nil || rpcError(err).Code != -32020 {
		t.Errorf("refused twice: %v", err)
	}
}

func TestCallTool(t *testing.T) {
	answer := ""
	s := start(t, func(w http.ResponseWriter, _ *http.Request, m *jsonrpc.Message) {
		switch m.Method {
		case "initialize":
			reply(w, 200, m, initiated)
		case "tools/call":
			if answer == "" {
				answer = `"result":` + string(m.Params)
			}
			reply(w, 200, m, answer)
		default:
			w.WriteHeader(202)
		}
	})
	c, err := s.connect(t, "2025-06-18")
	if err != nil {
		t.Fatal(err)
	}
	res, err := c.CallTool(t.Context(), `a "b"`, []byte(`{"n":1.0}`))
	if err != nil || string(res.Raw) != `{"name":"a \"b\"","arguments":{"n":1.0}}` {
		t.Errorf("%+v, %v", res, err)
	}
	answer = `"error":{"code":-32602,"message":"unknown tool"}`
	_, err = c.CallTool(t.Context(), "a", nil)
	if code, ok := ErrorCode(err); !ok || code != -32602 || err.Error() != "unknown tool" { // C42
		t.Error(err)
	}
	if _, ok := ErrorCode(&peer.Failure{Reason: peer.Ended}); ok {
		t.Error("a failure of the way has a code")
	}
	if _, err := c.CallTool(t.Context(), "a", []byte(`[]`)); err == nil {
		t.Error("arguments that are no object were sent")
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := c.CallTool(ctx, "a", nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	_ = c.Close()
	if _, err := c.Call(t.Context(), "x", nil); peer.ReasonOf(err) != peer.Closed {
		t.Error(err)
	}
}
