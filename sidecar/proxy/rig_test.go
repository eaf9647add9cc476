package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/sse"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/proxy"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/repair"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
	upstdio "github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

// local starts this test binary as the workload's process: what the agent does
// in a pod, without its container.
type local struct {
	file   string // holds the script
	mu     sync.Mutex
	starts int
}

func (l *local) Check(context.Context) error { return nil }

func (l *local) Start(context.Context, string) (upstdio.Child, error) {
	l.mu.Lock()
	l.starts++
	l.mu.Unlock()
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+l.file, "GORACE=atexit_sleep_ms=0")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, os.Stderr
	err = cmd.Start()
	inR.Close()
	outW.Close()
	if err != nil {
		return nil, err
	}
	c := &localChild{cmd: cmd, in: inW, out: outR, done: make(chan struct{})}
	go func() {
		_ = cmd.Wait()
		close(c.done)
	}()
	return c, nil
}

type localChild struct {
	cmd     *exec.Cmd
	in, out *os.File
	done    chan struct{}
	once    sync.Once
}

func (c *localChild) Stdin() io.WriteCloser { return c.in }
func (c *localChild) Stdout() io.ReadCloser { return c.out }
func (c *localChild) Done() <-chan struct{} { return c.done }
func (c *localChild) Exit() agent.Exit      { return agent.Exit{Code: c.cmd.ProcessState.ExitCode()} }
func (c *localChild) Close()                { c.in.Close(); c.out.Close() }

func (c *localChild) Stop() {
	c.once.Do(func() {
		c.in.Close()
		go func() {
			t := time.NewTimer(2 * time.Second)
			defer t.Stop()
			select {
			case <-t.C:
				_ = c.cmd.Process.Kill()
			case <-c.done:
			}
		}()
	})
}

// events is what the hooks of a rig have seen.
type events struct {
	mu    sync.Mutex
	lossy []string
	fixed []repair.Note
	noise []string
	names []string
	calls []string
}

// rig is the real front over HTTP, the proxy, and a scripted workload.
type rig struct {
	t      testing.TB
	url    string
	http   *http.Client
	pool   *upstdio.Pool
	child  *local
	front  *streamable.Server
	proxy  *proxy.Proxy
	events *events
	ends   chan upstdio.End // of processes
}

func (e *events) hooks() proxy.Hooks {
	return proxy.Hooks{
		Lossy: func(reason string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.lossy = append(e.lossy, reason)
		},
		Repaired: func(_ string, kind repair.Kind, item string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.fixed = append(e.fixed, repair.Note{Kind: kind, Item: item})
		},
		Tools: func(names []string, first bool) {
			e.mu.Lock()
			defer e.mu.Unlock()
			if first {
				e.names = nil
			}
			e.names = append(e.names, names...)
		},
		Called: func(method string, _ time.Duration, failure string) {
			e.mu.Lock()
			defer e.mu.Unlock()
			e.calls = append(e.calls, strings.TrimSpace(method+" "+failure))
		},
	}
}

// serve serves the front before a legacy workload.
func serve(t testing.TB, s script) *rig {
	t.Helper()
	return serveAs(t, s, upstream.EraLegacy)
}

// ring seals what clients bring back.
func ring(t testing.TB) *seal.Keyring {
	t.Helper()
	keys := &seal.Keyring{Server: "uid"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	return keys
}

// serveAs serves it before a workload of an era; edits change the proxy.
func serveAs(t testing.TB, s script, era upstream.Era, edits ...func(*proxy.Config)) *rig {
	t.Helper()
	return servePool(t, s, era, func(*upstdio.Config) {}, edits...)
}

// servePool does the same with other settings of the processes.
func servePool(t testing.TB, s script, era upstream.Era, alter func(*upstdio.Config), edits ...func(*proxy.Config)) *rig {
	t.Helper()
	r := &rig{t: t, child: &local{file: filepath.Join(t.TempDir(), "script")}, events: &events{}, ends: make(chan upstdio.End, 100)}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(r.child.file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := upstdio.Config{Starter: r.child, Era: era, MaxProcesses: 8, MaxMessageBytes: 1 << 20, Startup: 20 * time.Second}
	cfg.Hooks.Peer.Noise = func(line string) {
		r.events.mu.Lock()
		defer r.events.mu.Unlock()
		r.events.noise = append(r.events.noise, line)
	}
	cfg.Hooks.Ended = func(why upstdio.End, _ agent.Exit) { r.ends <- why }
	alter(&cfg)
	r.pool = upstdio.New(cfg)
	pc := proxy.Config{Workload: r.pool, Name: "fallback", Version: "9", Keys: ring(t), Hooks: r.events.hooks()}
	for _, edit := range edits {
		edit(&pc)
	}
	r.front = front(t, proxy.New(pc), func() {
		ctx, stop := context.WithTimeout(context.Background(), 2*time.Second)
		defer stop()
		r.pool.Shutdown(ctx)
	}, r)
	return r
}

// front serves a proxy over real sockets until the test ends; then workload is
// shut down.
func front(t testing.TB, p *proxy.Proxy, workload func(), r *rig) *streamable.Server {
	t.Helper()
	keys := &seal.Keyring{Server: "uid"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	srv := &streamable.Server{Handler: p, Keys: keys, Pod: "pod", Epoch: 1}
	hs := httptest.NewServer(srv)
	transport := &http.Transport{}
	r.proxy = p
	r.url, r.http = hs.URL+"/mcp", &http.Client{Transport: transport}
	t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		transport.CloseIdleConnections()
		_ = srv.Shutdown(ctx, errors.New("test over"))
		hs.CloseClientConnections()
		hs.Close()
		workload()
	})
	return srv
}

// client speaks one revision to the front.
type client struct {
	r        *rig
	revision string
	session  string
	serial   int
	user     string // who asks, where the front tells
	caps     string // of a modern client
}

// initialize opens a session; caps is a raw object.
func (r *rig) initialize(revision, caps string) (*client, string) {
	r.t.Helper()
	c := &client{r: r}
	res := c.post(`{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"` + revision + `","capabilities":` + caps + `,"clientInfo":{"name":"t","version":"0"}}}`)
	if res.status != 200 || len(res.messages) != 1 {
		r.t.Fatalf("initialize: %d %v", res.status, res.messages)
	}
	c.session, c.revision = res.header.Get("Mcp-Session-Id"), revision
	return c, res.messages[0]
}

func (r *rig) legacy() *client {
	r.t.Helper()
	c, _ := r.initialize("2025-06-18", "{}")
	return c
}

func (r *rig) modern() *client { return r.declaring(`{"elicitation":{}}`) }

// declaring is a client without a session that declares these capabilities.
func (r *rig) declaring(caps string) *client {
	return &client{r: r, revision: "2026-07-28", caps: caps}
}

// response is a whole HTTP answer.
type response struct {
	status   int
	header   http.Header
	messages []string
}

// stream is an answer that is still being read.
type stream struct {
	t    testing.TB
	resp *http.Response
	sse  *sse.Reader
	json bool
	stop context.CancelFunc
}

func (c *client) send(method, body string, edit func(http.Header)) *stream {
	c.r.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	req, err := http.NewRequestWithContext(ctx, method, c.r.url, strings.NewReader(body))
	if err != nil {
		c.r.t.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.session != "" {
		req.Header.Set("Mcp-Session-Id", c.session)
		req.Header.Set("Mcp-Protocol-Version", c.revision)
	}
	if c.user != "" {
		req.Header.Set("X-User", c.user)
	}
	if edit != nil {
		edit(req.Header)
	}
	resp, err := c.r.http.Do(req)
	if err != nil {
		stop()
		c.r.t.Fatal(err)
	}
	s := &stream{t: c.r.t, resp: resp, stop: stop}
	s.json = !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream")
	s.sse = &sse.Reader{R: bufio.NewReader(resp.Body)}
	return s
}

// next returns the next message; false at the end.
func (s *stream) next() (string, bool) {
	s.t.Helper()
	if s.json {
		b, err := io.ReadAll(s.resp.Body)
		if err != nil {
			s.t.Fatal(err)
		}
		return strings.TrimSpace(string(b)), len(b) > 0
	}
	for {
		ev, err := s.sse.Next()
		if err != nil {
			return "", false
		}
		if ev.IsMessage() {
			return string(ev.Data), true
		}
	}
}

func (s *stream) want(text string) {
	s.t.Helper()
	got, ok := s.next()
	if !ok || got != text {
		s.t.Errorf("got  %s\nwant %s", got, text)
	}
}

func (s *stream) close() { s.stop(); s.resp.Body.Close() }

func (s *stream) rest() response {
	s.t.Helper()
	defer s.close()
	out := response{status: s.resp.StatusCode, header: s.resp.Header}
	for {
		m, ok := s.next()
		if !ok {
			return out
		}
		out.messages = append(out.messages, m)
		if s.json {
			return out
		}
	}
}

func (c *client) post(body string) response { return c.send(http.MethodPost, body, nil).rest() }

// request makes a request in the client's revision and returns its stream.
func (c *client) request(id, method, params string) *stream {
	c.r.t.Helper()
	if c.session != "" {
		if params != "" {
			params = `,"params":` + params
		}
		return c.send(http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`"`+params+`}`, nil)
	}
	if params == "" {
		params = "{}"
	}
	for key, value := range map[string]string{"protocolVersion": `"2026-07-28"`, "clientCapabilities": c.caps, "clientInfo": `{"name":"t","version":"0"}`} {
		out, err := strictjson.Splice([]byte(params), strictjson.Set([]byte(value), "_meta", "io.modelcontextprotocol/"+key))
		if err != nil {
			c.r.t.Fatal(err)
		}
		params = string(out)
	}
	return c.send(http.MethodPost, `{"jsonrpc":"2.0","id":`+id+`,"method":"`+method+`","params":`+params+`}`, func(h http.Header) {
		h.Set("Mcp-Protocol-Version", "2026-07-28")
		h.Set("Mcp-Method", method)
		if p, ok := mcp.Lookup("2026-07-28"); ok {
			m, _ := p.Method(method)
			raw, _ := strictjson.Get([]byte(params), m.NameParam)
			if text, ok := strictjson.String(raw); ok {
				h.Set("Mcp-Name", text)
			}
		}
	})
}

// call makes a request with a fresh id and returns result or error, raw.
func (c *client) call(method, params string) string {
	c.r.t.Helper()
	c.serial++
	id := fmt.Sprint(c.serial)
	res := c.request(id, method, params).rest()
	if len(res.messages) == 0 {
		c.r.t.Fatalf("%s: status %d, no message", method, res.status)
	}
	last := res.messages[len(res.messages)-1]
	want := `{"jsonrpc":"2.0","id":` + id + `,`
	if !strings.HasPrefix(last, want) {
		c.r.t.Fatalf("%s: answer %s", method, last)
	}
	last = strings.TrimSuffix(strings.TrimPrefix(last, want), "}")
	if pinned := c.pinned(last); res.status != pinned && len(res.messages) == 1 {
		c.r.t.Errorf("%s: status %d of %s, want %d", method, res.status, last, pinned)
	}
	if text, ok := strings.CutPrefix(last, `"result":`); ok {
		return text
	}
	return strings.TrimPrefix(last, `"error":`)
}

// pinned is the status that an answer has with nothing before it: errors of
// 2026-07-28 have their own, everything else is told in-band (W14.12, B16).
func (c *client) pinned(answer string) int {
	if c.session == "" {
		for code, status := range map[string]int{"-32601": http.StatusNotFound, "-32020": http.StatusBadRequest, "-32021": http.StatusBadRequest, "-32022": http.StatusBadRequest} {
			if strings.HasPrefix(answer, `"error":{"code":`+code) {
				return status
			}
		}
	}
	return http.StatusOK
}

func (c *client) want(method, params, want string) {
	c.r.t.Helper()
	if got := c.call(method, params); got != want {
		c.r.t.Errorf("%s\ngot  %s\nwant %s", method, got, want)
	}
}
