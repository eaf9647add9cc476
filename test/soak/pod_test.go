package soak

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// patience bounds every wait for something that should come soon.
const patience = 60 * time.Second

// pod is a sidecar, an agent and the processes that it starts.
type pod struct {
	t              *testing.T
	dir            string
	sidecar, agent *process
	// URLs without a path.
	public, admin, metrics string
	// plain asks the admin ports, over one connection.
	plain *http.Client
	// stacks is what the sidecar's goroutines did when its heap was looked at.
	stacks string
}

// startPod starts a pod in front of a command and waits until it is ready.
func startPod(t *testing.T, s config.Stdio, command func(program func(name string) string) []string) *pod {
	t.Helper()
	dir, err := os.MkdirTemp("", "soak") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pod{t: t, dir: dir, plain: &http.Client{Timeout: patience, Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}}}
	p.write()
	p.link()
	boot, _, err := config.EncodeBoot(config.Boot{
		Version:          config.BootVersion,
		Server:           config.ServerRef{Namespace: "soak", Name: "soak", UID: "0b1f3c1e-8f0a-4a5e-9d55-2f1c0a6f7e12"},
		Workload:         config.Workload{Type: config.WorkloadStdio, Stdio: &s},
		Clocks:           config.NewClocks(1),
		ContractVersions: config.ContractVersions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	p.agent = p.launch("mcp-agent", nil, append([]string{"run", "--socket", p.path("agent.sock"), "--"}, command(p.program)...)...)
	p.sidecar = p.launch("mcp-sidecar", []string{config.BootEnv + "=" + string(boot), config.EnvPodUID + "=pod-uid", "GOMEMLIMIT=200MiB"},
		"serve", "--log-level", "INFO", "--test-keep", keep.String(), "--test-collect",
		"--test-public", "127.0.0.1:0", "--test-admin", "127.0.0.1:0", "--test-metrics", "127.0.0.1:0",
		"--test-live-dir", p.path("live"), "--test-keys-dir", p.path("keys"),
		"--test-agent-socket", p.path("agent.sock"), "--test-hook-socket", p.path("hook.sock"))
	p.eventually("the sidecar is ready", func() bool {
		if !p.sidecar.running() {
			t.Fatalf("the sidecar ended:\n%s", p.sidecar.log.text())
		}
		p.public, p.admin, p.metrics = p.address("public"), p.address("admin"), p.address("metrics")
		if p.public == "" || p.admin == "" || p.metrics == "" {
			return false
		}
		code, _ := p.get(p.admin + config.PathReadyz)
		return code == http.StatusOK
	})
	return p
}

// write makes the mounts.
func (p *pod) write() {
	p.t.Helper()
	live := config.DefaultLive()
	live.Protocol.HTTPSSE = true
	live.Limits.RequestSeconds = int(requestTime.Seconds())
	gz, _, err := config.EncodeLive(live)
	if err != nil {
		p.t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		filepath.Join("live", config.LiveKey(live.Version)): gz,
		"keys/a1":                              bytes.Repeat([]byte("k"), config.KeyBytes),
		filepath.Join("keys", config.SealWith): []byte("a1"),
	} {
		if err := os.MkdirAll(filepath.Dir(p.path(name)), 0o755); err != nil {
			p.t.Fatal(err)
		}
		if err := os.WriteFile(p.path(name), data, 0o600); err != nil {
			p.t.Fatal(err)
		}
	}
}

// link gives the pod names of its own for the programs, so that its processes
// can be told from others'.
func (p *pod) link() {
	p.t.Helper()
	if err := os.Mkdir(p.path("bin"), 0o755); err != nil {
		p.t.Fatal(err)
	}
	for _, name := range programs() {
		if err := os.Link(filepath.Join(bin, filepath.Base(name)), p.program(filepath.Base(name))); err != nil {
			p.t.Fatal(err)
		}
	}
}

// program is one of our programs.
func (p *pod) program(name string) string { return filepath.Join(p.path("bin"), name) }

func (p *pod) path(name string) string { return filepath.Join(p.dir, name) }

// address finds a port's URL in the sidecar's log.
func (p *pod) address(port string) string {
	for line := range strings.Lines(p.sidecar.log.text()) {
		var entry struct{ Msg, Port, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" && entry.Port == port {
			return "http://" + entry.Address
		}
	}
	return ""
}

func (p *pod) get(url string) (code int, body string) {
	resp, err := p.plain.Get(url)
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, err.Error()
	}
	return resp.StatusCode, string(data)
}

// read is what a port of the sidecar answers. One that waits for its turn for
// long gives up by itself, and is asked again.
func (p *pod) read(url string) string {
	p.t.Helper()
	var code int
	var body string
	if !p.within(patience, func() bool {
		code, body = p.get(url)
		return code == http.StatusOK
	}) {
		p.t.Fatalf("%s: %d %s", url, code, body)
	}
	return body
}

// eventually polls until done; the test ends if that never comes.
func (p *pod) eventually(what string, done func() bool) {
	p.t.Helper()
	if !p.within(patience, done) {
		p.t.Fatalf("never: %s", what)
	}
}

func (p *pod) within(most time.Duration, done func() bool) bool {
	end := time.NewTimer(most)
	defer end.Stop()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-end.C:
			return done()
		}
	}
	return true
}

// keptLog is how much of a process's output is kept, from either end.
const keptLog = 256 << 10

// log keeps the first and the last that a process wrote.
type log struct {
	mu          sync.Mutex
	first, last []byte
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := min(len(p), keptLog-len(l.first))
	l.first = append(l.first, p[:n]...)
	l.last = append(l.last, p[n:]...)
	if over := len(l.last) - keptLog; over > keptLog {
		l.last = append(l.last[:0], l.last[over:]...)
	}
	return len(p), nil
}

func (l *log) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.first) + string(l.last)
}

// process is a program that runs.
type process struct {
	cmd  *exec.Cmd
	log  *log
	done chan struct{} // closed when it has been waited for
}

// launch starts a program, which is killed at the end of the test.
func (p *pod) launch(name string, env []string, args ...string) *process {
	p.t.Helper()
	return begin(p.t, exec.Command(p.program(name), args...), env)
}

func begin(t *testing.T, cmd *exec.Cmd, env []string) *process {
	t.Helper()
	p := &process{cmd: cmd, log: &log{}, done: make(chan struct{})}
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, env...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.WaitDelay = 5 * time.Second
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.done
	})
	return p
}

func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// children are the processes that a process has started and that are there,
// zombies included.
func children(pid int) (pids []int) {
	files, _ := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task", "*", "children")) // the pattern is good
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			continue // the thread has ended
		}
		for text := range strings.FieldsSeq(string(data)) {
			if pid, err := strconv.Atoi(text); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
