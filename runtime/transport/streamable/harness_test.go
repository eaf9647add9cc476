package streamable_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable/edgetest"
)

// backend is a dispatch.Server made of funcs, which counts what reaches it.
type backend struct {
	open   func(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome
	serve  func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome
	notify func(s dispatch.Session, n *jsonrpc.Message)

	mu       sync.Mutex
	calls    int
	sessions []dispatch.Session
	closed   []error
	notified []string
}

func (b *backend) Open(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	b.mu.Lock()
	b.calls++
	b.sessions = append(b.sessions, s)
	b.mu.Unlock()
	if b.open != nil {
		return b.open(ctx, x, s)
	}
	return dispatch.Result([]byte(`{"protocolVersion":"` + s.Revision() + `","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`))
}

func (b *backend) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	switch {
	case x.Msg.Method == "no/such", b.serve == nil && (strings.HasPrefix(x.Msg.Method, "tasks/") || x.Msg.Method == "subscriptions/listen"):
		// What no revision knows, or it does not offer, is the Server's to refuse.
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	}
	b.mu.Lock()
	b.calls++
	b.mu.Unlock()
	if b.serve != nil {
		return b.serve(ctx, x)
	}
	return dispatch.Result([]byte(`{"echo":"` + x.Msg.Method + `"}`))
}

func (b *backend) Notify(_ context.Context, s dispatch.Session, n *jsonrpc.Message) {
	b.mu.Lock()
	b.notified = append(b.notified, n.Method)
	b.mu.Unlock()
	if b.notify != nil {
		b.notify(s, n)
	}
}

func (b *backend) Closed(_ dispatch.Session, cause error) {
	b.mu.Lock()
	b.closed = append(b.closed, cause)
	b.mu.Unlock()
}

func (b *backend) served() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls
}

func (b *backend) session(i int) dispatch.Session {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.sessions[i]
}

func (b *backend) endings() []error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]error(nil), b.closed...)
}

// lab is one server with a client, in virtual time.
type lab struct {
	t       *testing.T
	backend *backend
	server  *streamable.Server
	client  *http.Client
	memory  *edgetest.Listener
	set     streamable.Settings

	mu       sync.Mutex
	rejected []hook.Reason
	dropped  []hook.Drop
	buffered int64
	streams  int
}

// inLab runs f in a bubble of virtual time with a server that works.
func inLab(t *testing.T, b *backend, f func(l *lab)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { newLab(t, b, f, nil) })
}

func newLab(t *testing.T, b *backend, f func(l *lab), addr net.IP, change ...func(*http.Server, *http.Transport)) {
	l := &lab{t: t, backend: b}
	keys := &seal.Keyring{Server: "uid"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	l.server = &streamable.Server{
		Handler: b, Keys: keys, Pod: "pod-1", Epoch: 1,
		Settings: func() streamable.Settings { l.mu.Lock(); defer l.mu.Unlock(); return l.set },
		Observer: &hook.Observer{
			Rejected:     func(r hook.Reason) { l.mu.Lock(); l.rejected = append(l.rejected, r); l.mu.Unlock() },
			Dropped:      func(d hook.Drop) { l.mu.Lock(); l.dropped = append(l.dropped, d); l.mu.Unlock() },
			Buffered:     func(n int64) { l.mu.Lock(); l.buffered += n; l.mu.Unlock() },
			StreamOpened: func(hook.StreamKind) { l.mu.Lock(); l.streams++; l.mu.Unlock() },
			StreamClosed: func(hook.StreamKind, hook.StreamEnd) { l.mu.Lock(); l.streams--; l.mu.Unlock() },
		},
	}
	l.memory = edgetest.NewListener(addr)
	web := &http.Server{Handler: l.server}
	transport := &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return l.memory.Dial(ctx) },
		DisableCompression: true,
		MaxConnsPerHost:    0,
	}
	for _, c := range change {
		c(web, transport)
	}
	go func() { _ = web.Serve(l.memory) }()
	l.client = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer func() {
		_ = l.server.Shutdown(context.Background(), errors.New("test over"))
		transport.CloseIdleConnections()
		_ = web.Close()
		time.Sleep(time.Second) // net/http lingers on connections it closes
		synctest.Wait()
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.buffered != 0 {
			t.Errorf("%d bytes of the budget were not given back", l.buffered)
		}
		if n, m := l.server.Streams(), l.server.Sessions(); n != 0 || m != 0 {
			t.Errorf("%d streams and %d sessions are left", n, m)
		}
		if n := keys.Remembered(); n != 0 {
			t.Errorf("%d ids of sessions that have ended are remembered", n)
		}
		if l.streams != 0 {
			t.Errorf("%d streams were not closed", l.streams)
		}
	}()
	f(l)
}

func (l *lab) settings(f func(*streamable.Settings)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.set)
}

func (l *lab) drops() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.dropped)
}

// call is one HTTP request; "-" as a value removes a field.
type call struct {
	method string // POST
	path   string // /mcp
	body   string
	header map[string]string
	lines  http.Header // further field lines
	ctx    context.Context
}

func (l *lab) do(c call) *http.Response {
	l.t.Helper()
	res, err := l.try(c)
	if err != nil {
		l.t.Fatalf("%+v: %v", c, err)
	}
	return res
}

// patience ends what waits for something that never comes. Without it the
// keep-alives of a silent stream would let virtual time run for ever.
const patience = 100 * time.Hour

func (l *lab) try(c call) (*http.Response, error) {
	if c.method == "" {
		c.method = http.MethodPost
	}
	if c.path == "" {
		c.path = "/mcp"
	}
	if c.ctx == nil {
		c.ctx = l.t.Context()
	}
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	l.t.Cleanup(cancel)
	req, err := http.NewRequestWithContext(ctx, c.method, "http://mcp.example"+c.path, strings.NewReader(c.body))
	if err != nil {
		l.t.Fatal(err)
	}
	if c.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
	}
	if c.method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
	}
	for name, value := range c.header {
		switch {
		case name == "Host":
			req.Host = value
		case value == "-":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	for name, values := range c.lines {
		for _, v := range values {
			req.Header.Add(name, v)
		}
	}
	return l.client.Do(req)
}

// answerTo is a response that was read whole.
type answerTo struct {
	status int
	header http.Header
	body   string
	last   bool // Connection: close
}

func (l *lab) ask(c call) answerTo {
	l.t.Helper()
	res := l.do(c)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return answerTo{res.StatusCode, res.Header, string(data), res.Close}
}

func (a answerTo) code() string {
	data := a.body
	if strings.HasPrefix(a.header.Get("Content-Type"), "text/event-stream") {
		if events := parse(data); len(events) > 0 {
			data = string(events[len(events)-1].Data)
		}
	}
	v, _ := strictjson.GetPath([]byte(data), "error", "code")
	return string(v)
}

func (a answerTo) id() string {
	v, ok := strictjson.Get([]byte(a.body), "id")
	if !ok {
		return "none"
	}
	return string(v)
}

func parse(text string) []sse.Event {
	r := &sse.Reader{R: strings.NewReader(text)}
	var out []sse.Event
	for {
		e, err := r.Next()
		if err != nil {
			return out
		}
		out = append(out, e)
	}
}

func initialize(revision, capabilities string) string {
	return `{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":` + capabilities + `,"clientInfo":{"name":"c","version":"0"}}}`
}

// connect opens a session and returns its id.
func (l *lab) connect(revision, capabilities string) string {
	l.t.Helper()
	a := l.ask(call{body: initialize(revision, capabilities)})
	id := a.header.Get("Mcp-Session-Id")
	if a.status != 200 || id == "" {
		l.t.Fatalf("initialize: %d %s", a.status, a.body)
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

// events reads a stream event by event.
type events struct {
	t   *testing.T
	res *http.Response
	r   *sse.Reader
}

func (l *lab) stream(c call) *events {
	l.t.Helper()
	res := l.do(c)
	if res.StatusCode != 200 || res.Header.Get("Content-Type") != "text/event-stream" {
		data, _ := io.ReadAll(res.Body)
		l.t.Fatalf("no stream: %d %s", res.StatusCode, data)
	}
	return &events{t: l.t, res: res, r: &sse.Reader{R: res.Body}}
}

func (e *events) next() sse.Event {
	e.t.Helper()
	ev, err := e.r.Next()
	if err != nil {
		e.t.Fatalf("no event: %v", err)
	}
	return ev
}

// message skips events that carry none.
func (e *events) message() sse.Event {
	e.t.Helper()
	for {
		if ev := e.next(); ev.IsMessage() {
			return ev
		}
	}
}

func (e *events) ended() {
	e.t.Helper()
	for {
		ev, err := e.r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			e.t.Fatalf("ended with %v", err)
		}
		if ev.IsMessage() {
			e.t.Fatalf("one more message: %s", ev.Data)
		}
	}
}

func (e *events) close() { _ = e.res.Body.Close() }

// progressThenDone sends one notification before its answer.
func progressThenDone(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	_ = x.Notify(progress(1))
	return done("x")
}

func panicking(context.Context, *dispatch.Exchange) dispatch.Outcome { panic("boom") }
