package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
	"github.com/fairlead-dev/fairlead/sidecar/health"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeBackend is a workload that does as it is told.
type fakeBackend struct {
	mu     sync.Mutex
	fault  error         // of handshake and check
	hold   chan struct{} // a tools/call waits until it is closed
	called chan struct{} // gets one for each tools/call
	closed bool
}

func newFake() *fakeBackend {
	hold := make(chan struct{})
	close(hold)
	return &fakeBackend{hold: hold, called: make(chan struct{}, 64)}
}

func (f *fakeBackend) alter(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeBackend) Open(context.Context, *dispatch.Exchange, dispatch.Session) dispatch.Outcome {
	return dispatch.Result([]byte(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`))
}

func (f *fakeBackend) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	if x.Msg.Method == "tools/list" {
		return dispatch.Result([]byte(`{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`))
	}
	f.mu.Lock()
	hold := f.hold
	f.mu.Unlock()
	f.called <- struct{}{}
	select {
	case <-hold:
		return dispatch.Result([]byte(`{"content":[]}`))
	case <-ctx.Done():
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "cut"))
	}
}

func (f *fakeBackend) Notify(context.Context, dispatch.Session, *jsonrpc.Message) {}
func (f *fakeBackend) Closed(dispatch.Session, error)                             {}
func (f *fakeBackend) ParamSchema(string) ([]byte, bool)                          { return nil, false }
func (f *fakeBackend) Life() string                                               { return "" }
func (f *fakeBackend) Remembered() map[string]int                                 { return map[string]int{"fakes": 7} }
func (f *fakeBackend) Spares() int                                                { return 0 }
func (f *fakeBackend) Processes() int                                             { return 0 }
func (f *fakeBackend) Close(context.Context)                                      { f.alter(func() { f.closed = true }) }

func (f *fakeBackend) Handshake(context.Context) (health.Peer, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return health.Peer{Era: "legacy", Revision: "2025-06-18", Name: "fake"}, f.fault
}

func (f *fakeBackend) Check(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fault
}

// rig is a running App.
type rig struct {
	*App
	t       *testing.T
	backend *fakeBackend
	dir     string
	log     *bytes.Buffer
	stop    context.CancelFunc // SIGTERM
	ended   chan error
	session string
}

// start runs an App in front of a fake; alter may be nil.
func start(t *testing.T, alter func(c *Config, dir string)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp("", "app") // short: it holds a unix socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := config.DefaultStdio()
	r := &rig{t: t, backend: newFake(), dir: dir, log: &bytes.Buffer{}, ended: make(chan error, 1)}
	c := Config{
		Boot: config.Boot{
			Version: 1, Server: config.ServerRef{Namespace: "n", Name: "s", UID: "u"},
			Workload: config.Workload{Type: config.WorkloadStdio, Stdio: &s},
			Clocks:   config.NewClocks(30), ContractVersions: config.ContractVersions(),
		},
		BootHash: "1-00", PodUID: "pod-uid",
		Public: "127.0.0.1:0", Admin: "127.0.0.1:0", Metrics: "127.0.0.1:0",
		LiveDir: filepath.Join(dir, "live"), KeysDir: filepath.Join(dir, "keys"),
		Drain:  drain.Clocks{Drain: 30 * time.Second},
		Ending: 5 * time.Second,
		Log:    slog.New(slog.NewJSONHandler(&syncWriter{w: r.log}, nil)),
	}
	for _, d := range []string{c.LiveDir, c.KeysDir} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if alter != nil {
		alter(&c, dir)
	}
	a, err := New(c, func(Config, *observe.Metrics) (Backend, error) { return r.backend, nil })
	if err != nil {
		t.Fatal(err)
	}
	r.App = a
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-r.ended; err != nil {
			t.Errorf("Run: %v\n%s", err, r.log)
		}
		http.DefaultClient.CloseIdleConnections()
	})
	return r
}

type syncWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (s *syncWriter) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(b)
}

// putLive writes a live contract as a kubelet would: whole, at once.
func (r *rig) putLive(l config.Live) string {
	r.t.Helper()
	gz, digest, err := config.EncodeLive(l)
	if err != nil {
		r.t.Fatal(err)
	}
	r.put("live", config.LiveKey(l.Version), gz)
	return digest
}

func (r *rig) put(dir, name string, data []byte) {
	r.t.Helper()
	tmp := filepath.Join(r.dir, "tmp")
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		r.t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(r.dir, dir, name)); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) putKeys() {
	r.t.Helper()
	r.put("keys", "a1", bytes.Repeat([]byte("k"), config.KeyBytes))
	r.put("keys", config.SealWith, []byte("a1"))
}

// ready is a rig that serves.
func ready(t *testing.T, alter func(c *Config, dir string)) *rig {
	t.Helper()
	r := start(t, alter)
	r.putLive(config.DefaultLive())
	r.putKeys()
	r.until("ready", func() bool { code, _ := r.get(r.admin, "/readyz"); return code == 200 })
	return r
}

// until waits for something that comes by itself.
func (r *rig) until(what string, done func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(30 * time.Second)
	for !done() {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s never came\n%s", what, r.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (r *rig) get(p *port, path string) (int, string) {
	r.t.Helper()
	resp, err := http.Get("http://" + p.listener.Addr().String() + path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

func (r *rig) statusNow() (s config.Status) {
	r.t.Helper()
	_, body := r.get(r.admin, config.PathStatus)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		r.t.Fatalf("%v in %s", err, body)
	}
	return s
}

// post sends one message; the session of an earlier initialize goes with it.
func (r *rig) post(body string) (*http.Response, string, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+r.Address()+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.session != "" {
		req.Header.Set("Mcp-Session-Id", r.session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, string(text), err
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func (r *rig) open() {
	r.t.Helper()
	resp, body, err := r.post(initialize)
	if err != nil || resp.StatusCode != 200 {
		r.t.Fatalf("initialize: %v %v %s", err, resp, body)
	}
	r.session = resp.Header.Get("Mcp-Session-Id")
}

func call(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{}}}`, id)
}

var errGone = &health.Failure{Reason: config.ReasonAgentUnreachable, Err: errors.New("gone")}
