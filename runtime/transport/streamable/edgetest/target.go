package edgetest

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Settings are those of the endpoint; zero values mean its defaults.
type Settings struct {
	Origins []string // that may use it
	MaxBody int64
	// Timeout bounds one request.
	Timeout time.Duration
	// Address is the listener's own; nil is one of a network.
	Address net.IP
}

// Dial opens a connection to the endpoint.
type Dial func(ctx context.Context) (net.Conn, error)

// Target is an endpoint under test.
type Target struct {
	// Serve serves server in a bubble of virtual time while f runs, with an
	// endpoint on /mcp in front of it.
	Serve func(t *testing.T, server dispatch.Server, s Settings, f func(t *testing.T, dial Dial))
	// Framed: a leg that knows lines lies between endpoint and server, so that
	// line ends between tokens are dropped (P9), and progress tokens are the
	// leg's own (B11.4).
	Framed bool
}

// open runs f with a client of the endpoint.
func (g Target) open(t *testing.T, server dispatch.Server, s Settings, f func(c *client)) {
	t.Helper()
	g.Serve(t, server, s, func(t *testing.T, dial Dial) {
		transport := &http.Transport{
			DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			DisableCompression: true,
		}
		defer transport.CloseIdleConnections()
		stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		f(&client{t: t, dial: dial, http: &http.Client{Transport: transport, CheckRedirect: stay}})
	})
}

// client is who talks to the endpoint.
type client struct {
	t    *testing.T
	dial Dial
	http *http.Client
}

// call is one HTTP request; "-" as a value removes a field.
type call struct {
	method string // POST
	path   string // /mcp
	body   string
	header map[string]string
	lines  http.Header // further field lines
}

func (c *client) do(q call) *http.Response {
	c.t.Helper()
	if q.method == "" {
		q.method = http.MethodPost
	}
	if q.path == "" {
		q.path = "/mcp"
	}
	req, err := http.NewRequestWithContext(c.t.Context(), q.method, "http://mcp.example"+q.path, strings.NewReader(q.body))
	if err != nil {
		c.t.Fatal(err)
	}
	switch q.method {
	case http.MethodPost:
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	case http.MethodGet:
		req.Header.Set("Accept", "text/event-stream")
	}
	for name, value := range q.header {
		switch {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	for name, values := range q.lines {
		for _, v := range values {
			req.Header.Add(name, v)
		}
	}
	res, err := c.http.Do(req)
	if err != nil {
		c.t.Fatalf("%+v: %v", q, err)
	}
	return res
}

// answer is a response that was read whole.
type answer struct {
	status int
	header http.Header
	body   string
}

func (c *client) ask(q call) answer {
	c.t.Helper()
	res := c.do(q)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(data)}
}

// message is the answer's JSON-RPC message, the last of a stream.
func (a answer) message() string {
	if !strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		return a.body
	}
	all := messages(a.body)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1]
}

func (a answer) code() string {
	v, _ := strictjson.GetPath([]byte(a.message()), "error", "code")
	return string(v)
}

func (a answer) id() string {
	v, ok := strictjson.Get([]byte(a.message()), "id")
	if !ok {
		return "none"
	}
	return string(v)
}

// messages are the messages of an event stream.
func messages(text string) (out []string) {
	r := &sse.Reader{R: strings.NewReader(text)}
	for {
		e, err := r.Next()
		if err != nil {
			return out
		}
		if e.IsMessage() {
			out = append(out, string(e.Data))
		}
	}
}

const hello = "initialize"

func initialize(revision string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"` + hello + `","params":{"protocolVersion":"` + revision + `","capabilities":{},"clientInfo":{"name":"c","version":"0"}}}`
}

// connect opens a session and returns its id.
func (c *client) connect(revision string) string {
	c.t.Helper()
	a := c.ask(call{body: initialize(revision)})
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" {
		c.t.Fatalf("initialize: %d %s", a.status, a.body)
	}
	return id
}

func on(session string) map[string]string { return map[string]string{"Mcp-Session-Id": session} }

func with(header map[string]string, pairs ...string) map[string]string {
	out := map[string]string{}
	for k, v := range header {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i]] = pairs[i+1]
	}
	return out
}

const envelope = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func modern(method string, pairs ...string) map[string]string {
	return with(map[string]string{"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}, pairs...)
}

// asked is the request that the tables make where any will do, answered what
// the Workload says to it. Nobody on the way asks it for reasons of its own.
const (
	asked    = "prompts/list"
	list     = `{"jsonrpc":"2.0","id":1,"method":"prompts/list"}`
	answered = `{"prompts":[],"echo":"prompts/list"`
)
