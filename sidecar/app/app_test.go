package app

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/hook"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
)

func TestItWaitsForItsFilesAndSaysWhy(t *testing.T) { // O2, D6
	r := start(t, nil)
	r.until("startup", func() bool { code, _ := r.get(r.admin, config.PathStartup); return code == 200 })
	if code, _ := r.get(r.admin, config.PathLivez); code != 200 {
		t.Errorf("livez %d without any file", code)
	}
	code, why := r.get(r.admin, config.PathReadyz)
	if code != 503 || !strings.Contains(why, "no live contract yet") || !strings.Contains(why, "no keys yet") {
		t.Errorf("readyz %d %q", code, why)
	}
	if resp, _, err := r.post(initialize); err != nil || resp.StatusCode != 503 || resp.Header.Get("Retry-After") == "" {
		t.Errorf("initialize: %v %v", err, resp)
	}
	if code, body := r.get(r.public, "/healthz"); code != 503 || strings.Contains(body, "contract") {
		t.Errorf("healthz %d %q", code, body)
	}
	digest := r.putLive(config.DefaultLive())
	r.until("no keys", func() bool {
		_, why := r.get(r.admin, config.PathReadyz)
		return strings.HasPrefix(why, "no keys yet")
	})
	r.putKeys()
	r.until("ready", func() bool { code, _ := r.get(r.admin, config.PathReadyz); return code == 200 })
	r.open()
	if resp, body, err := r.post(call(2)); err != nil || resp.StatusCode != 200 || !strings.Contains(body, `"id":2`) {
		t.Errorf("call: %v %v %s", err, resp, body)
	}
	s := r.statusNow()
	if !s.Ready || s.LiveDigest != digest || s.ContractVersion != config.LiveVersion || s.PodUID != "pod-uid" || s.BootHash != "1-00" ||
		s.Keys.SealWith != "a1" || s.Counts.Sessions != 1 || s.Workload.Name != "fake" {
		t.Errorf("status %+v", s)
	}
}

func TestALiveContractChangesWithoutARestart(t *testing.T) {
	r := ready(t, nil)
	r.open()
	l := config.DefaultLive()
	l.Limits.MaxBodyBytes = 1024
	digest := r.putLive(l)
	r.until("the new digest", func() bool { return r.statusNow().LiveDigest == digest })
	big := strings.Replace(call(3), "{}", `{"x":"`+strings.Repeat("x", 2000)+`"}`, 1)
	if resp, _, err := r.post(big); err != nil || resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body over the new bound: %v %v", err, resp)
	}
	errorsCounted := func() string {
		_, metrics := r.get(r.scrape, "/metrics")
		_, after, _ := strings.Cut(metrics, "\nfairlead_live_contract_errors_total ")
		count, _, _ := strings.Cut(after, "\n")
		return count
	}
	before := errorsCounted() // the file may have been missed before it was there
	r.put("live", config.LiveKey(config.LiveVersion), []byte("rubbish"))
	r.until("the error", func() bool { return r.statusNow().LiveError != "" })
	if s := r.statusNow(); s.LiveDigest != digest || !s.Ready {
		t.Errorf("after rubbish: %+v", s)
	}
	if resp, _, err := r.post(call(4)); err != nil || resp.StatusCode != 200 {
		t.Errorf("the session did not survive: %v %v", err, resp)
	}
	r.until("the error is counted", func() bool { return errorsCounted() != before })
}

// R24, P17: revisions and the older transport come and go without a restart.
func TestTheProtocolFollowsTheLiveContract(t *testing.T) {
	r := ready(t, nil)
	open := func(revision string) string {
		_, body, err := r.post(strings.Replace(initialize, "2025-06-18", revision, 1))
		if err != nil {
			t.Fatal(err)
		}
		for _, known := range mcp.Revisions() {
			if strings.Contains(body, `"protocolVersion":"`+known+`"`) {
				return known
			}
		}
		return body
	}
	older := func() int {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address()+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		return resp.StatusCode
	}
	if got, status := open("2025-06-18"), older(); got != "2025-06-18" || status != http.StatusMethodNotAllowed {
		t.Errorf("by default: %s, %d", got, status)
	}
	l := config.DefaultLive()
	l.Protocol = config.Protocol{Revisions: []string{"2025-03-26", "2026-07-28"}, HTTPSSE: true}
	digest := r.putLive(l)
	r.until("the new digest", func() bool { return r.statusNow().LiveDigest == digest })
	if got, status := open("2025-06-18"), older(); got != "2025-03-26" || status != http.StatusOK {
		t.Errorf("with some revisions and HTTP+SSE: %s, %d", got, status)
	}
}

func TestThePublicPortServesTheEndpointAndHealthzOnly(t *testing.T) { // R17, R20
	r := ready(t, nil)
	for path, want := range map[string]int{
		"/healthz": 200, "/": 404, "/healthz/": 404, "/livez": 404, "/readyz": 404, "/status": 404, "/metrics": 404,
		"//mcp": 404, "/mcp/x": 404, "/mcp": 405, "/mcp/": 405, "/.well-known/oauth-protected-resource": 404,
	} {
		if code, _ := r.get(r.public, path); code != want {
			t.Errorf("GET %s: %d, want %d", path, code, want)
		}
	}
	req, err := http.NewRequest(http.MethodPost, "http://"+r.Address()+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /healthz: %v %v", resp, err)
	}
	if err == nil {
		_ = resp.Body.Close()
	}
}

func TestTooManyHeaderBytesAre431(t *testing.T) { // P33.6
	r := ready(t, nil)
	for size, want := range map[int]int{32 << 10: 405, 64 << 10: 431} {
		req, err := http.NewRequest(http.MethodGet, "http://"+r.Address()+"/mcp", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Big", strings.Repeat("x", size))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%d bytes: %d, want %d", size, resp.StatusCode, want)
		}
	}
}

// P1: a request that comes while the workload is away waits for it.
func TestCallsAreHeldWhileTheWorkloadIsAway(t *testing.T) {
	r := ready(t, nil)
	r.open()
	r.backend.alter(func() { r.backend.fault = errGone })
	r.until("not ready", func() bool {
		_, why := r.get(r.admin, config.PathReadyz)
		return strings.Contains(why, config.ReasonAgentUnreachable)
	})
	answered := make(chan int, 1)
	go func() {
		resp, _, err := r.post(call(2))
		if err != nil {
			answered <- 0
			return
		}
		answered <- resp.StatusCode
	}()
	r.until("held", func() bool { _, held := r.gate.Counts(); return held == 1 })
	r.backend.alter(func() { r.backend.fault = nil })
	if code := <-answered; code != 200 {
		t.Errorf("the held call got %d", code)
	}
	if s := r.statusNow(); s.Counts.Sessions != 1 {
		t.Errorf("sessions %d", s.Counts.Sessions)
	}
}

func TestSIGTERMDrainsBeforeItEnds(t *testing.T) { // D8
	r := ready(t, nil)
	r.open()
	hold := make(chan struct{})
	r.backend.alter(func() { r.backend.hold = hold })
	type answer struct {
		code  int
		close bool
		body  string
	}
	answered := make(chan answer, 1)
	go func() {
		resp, body, err := r.post(call(2))
		if err != nil {
			answered <- answer{body: err.Error()}
			return
		}
		answered <- answer{resp.StatusCode, resp.Close, body}
	}()
	<-r.backend.called
	r.stop()
	// Admin and metrics stay up while the public port drains.
	r.until("not ready", func() bool { _, why := r.get(r.admin, config.PathReadyz); return why == "draining\n" })
	if code, _ := r.get(r.admin, config.PathLivez); code != 200 {
		t.Errorf("livez %d while draining", code)
	}
	if !r.statusNow().Draining {
		t.Error("status does not say so")
	}
	if _, metrics := r.get(r.scrape, "/metrics"); !strings.Contains(metrics, "fairlead_draining 1") {
		t.Error("metrics do not say so")
	}
	r.until("initialize is refused", func() bool {
		fresh := &rig{App: r.App, t: t}
		resp, _, err := fresh.post(initialize)
		return err == nil && resp.StatusCode == 503
	})
	close(hold)
	if a := <-answered; a.code != 200 || !a.close || !strings.Contains(a.body, `"result"`) {
		t.Errorf("the running call got %+v", a)
	}
	err := <-r.ended
	r.ended <- err
	if err != nil {
		t.Error(err)
	}
	if !r.backend.closed {
		t.Error("the backend was not closed")
	}
	if c, err := net.Dial("tcp", r.Address()); err == nil {
		_ = c.Close()
		t.Error("the public port is still open")
	}
}

// hookRig is a rig with a hook socket.
func hookRig(t *testing.T) (*rig, string) {
	t.Helper()
	var path string
	r := ready(t, func(c *Config, dir string) {
		path = filepath.Join(dir, "hook.sock")
		c.HookSocket = path
	})
	return r, path
}

func TestTheWorkloadsHookDoesNotDrain(t *testing.T) { // O3
	r, path := hookRig(t)
	r.open()
	hold := make(chan struct{})
	r.backend.alter(func() { r.backend.hold = hold })
	running := make(chan int, 1)
	go func() {
		resp, _, err := r.post(call(2))
		if err != nil {
			running <- 0
			return
		}
		running <- resp.StatusCode
	}()
	<-r.backend.called
	asked := make(chan error, 1)
	go func() { asked <- ask(t.Context(), path, hook.KindWorkload) }()
	r.until("not ready", func() bool { code, _ := r.get(r.admin, config.PathReadyz); return code == 503 })
	select {
	case err := <-asked:
		t.Errorf("the hook returned with a call running: %v", err)
	default:
	}
	close(hold)
	if code := <-running; code != 200 {
		t.Errorf("the running call got %d", code)
	}
	if err := <-asked; err != nil {
		t.Error(err)
	}
	if s := r.statusNow(); s.Draining || s.Ready {
		t.Errorf("status %+v", s)
	}
	// The container goes and comes back.
	r.backend.alter(func() { r.backend.fault = errGone })
	r.until("gone", func() bool { return r.statusNow().Workload.Reason == config.ReasonAgentUnreachable })
	r.backend.alter(func() { r.backend.fault = nil })
	r.until("ready again", func() bool { return r.statusNow().Ready })
}

func TestTheSidecarsHookDrainsAndTheProcessStays(t *testing.T) { // O3
	r, path := hookRig(t)
	r.open()
	if err := ask(t.Context(), path, hook.KindSidecar); err != nil {
		t.Fatal(err)
	}
	if s := r.statusNow(); !s.Draining || s.Ready {
		t.Errorf("status %+v", s)
	}
	if resp, _, err := r.post(call(2)); err != nil || resp.StatusCode != 200 || !resp.Close {
		t.Errorf("a late call: %v %v", resp, err)
	}
	select {
	case err := <-r.ended:
		t.Fatalf("ended without SIGTERM: %v", err)
	default:
	}
}

// ask is what `mcp-agent hook` does.
func ask(ctx context.Context, path string, kind hook.Kind) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := hook.Ask(ctx, path, kind)
	return err
}

// A connection that was idle throughout a drain is closed, so that its client
// goes elsewhere instead of being refused.
func TestIdleConnectionsEndWithTheDrain(t *testing.T) {
	r, path := hookRig(t)
	c, err := net.Dial("tcp", r.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(c)
	resp, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.Close {
		t.Fatalf("%v, close %v", err, resp.Close)
	}
	if err := ask(t.Context(), path, hook.KindSidecar); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := in.ReadByte(); err != io.EOF {
		t.Errorf("the idle connection: %v, want EOF", err)
	}
}

func TestTheBudgetFollowsTheMemoryLimit(t *testing.T) { // P18
	for limit, want := range map[int64]int64{
		math.MaxInt64: stream.DefaultBudget, 0: stream.DefaultBudget,
		230 << 20: 115 << 20, 8 << 30: stream.DefaultBudget, 20 << 20: minBudget,
	} {
		if got := budgetFor(limit); got != want {
			t.Errorf("limit %d: %d, want %d", limit, got, want)
		}
	}
}

func TestConfigurationNamesEveryProblem(t *testing.T) {
	for name, tc := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"nothing set":  {nil, []string{config.BootEnv + " is not set", config.EnvPodUID + " is not set"}},
		"broken boot":  {map[string]string{config.BootEnv: `{"version":1,"colour":1}`, config.EnvPodIP: "x"}, []string{`unknown field "colour"`, config.EnvPodUID, config.EnvPodIP}},
		"invalid boot": {map[string]string{config.BootEnv: `{"version":1}`, config.EnvPodUID: "u"}, []string{"server.name:", "workload.type:", "clocks:"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromEnv(func(k string) string { return tc.env[k] })
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q lacks %q", err, want)
				}
			}
		})
	}
}

func TestPortsInUseAreAllNamed(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	taken := l.Addr().String()
	c := ForBoot(config.Boot{}, "")
	c.Public, c.Admin, c.Metrics = taken, taken, "127.0.0.1:0"
	c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	_, err = New(c, func(Config, *observe.Metrics) (Backend, error) { return newFake(), nil })
	if err == nil || !strings.Contains(err.Error(), "public port") || !strings.Contains(err.Error(), "admin port") {
		t.Errorf("error %v", err)
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	p, err := listen("test", "127.0.0.1:0", 2, publicServer(http.NotFoundHandler()), log)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- p.serve() }()
	var conns []net.Conn
	for range 3 {
		c, err := net.Dial("tcp", p.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, c)
	}
	wait := func(n int) {
		t.Helper()
		for limit := time.Now().Add(30 * time.Second); p.connections() != n; time.Sleep(time.Millisecond) {
			if time.Now().After(limit) {
				t.Fatalf("%d connections, want %d", p.connections(), n)
			}
		}
	}
	wait(2)
	_ = conns[0].Close()
	_ = conns[1].Close()
	wait(1) // the third was waiting and is served now
	if _, err := io.WriteString(conns[2], "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conns[2]); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 404") {
		t.Errorf("%q, %v", answer, err)
	}
	_ = conns[2].Close()
	p.close(time.Second)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
