package dataplane

import (
	"bytes"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// pod is a sidecar with its workload, as one pod has them.
type pod struct {
	t        *testing.T
	dir      string
	boot     config.Boot
	sidecar  *process
	agent    *process // of a Stdio workload
	workload *process // of an MCP workload

	public, admin, metrics string // base URLs

	running atomic.Int32 // calls of sleeping that have no answer yet
}

// stdioPod makes a pod whose workload is `testworkload serve` with these flags.
// It does not wait for it.
func stdioPod(t *testing.T, flags ...string) *pod {
	t.Helper()
	s := config.DefaultStdio()
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.startAgent(flags...)
	p.startSidecar()
	return p
}

// httpPod makes a pod whose workload is `testworkload serve-http` with these
// flags.
func httpPod(t *testing.T, flags ...string) *pod {
	t.Helper()
	port := freePort(t)
	p := newPod(t, config.Workload{Type: config.WorkloadMCP, MCP: &config.MCP{Port: port, Path: "/mcp"}})
	p.startWorkload(flags...)
	p.startSidecar()
	return p
}

// newPod makes a pod with nothing started.
func newPod(t *testing.T, w config.Workload) *pod {
	t.Helper()
	dir, err := os.MkdirTemp("", "pod") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pod{t: t, dir: dir, boot: config.Boot{
		Version:          config.BootVersion,
		Server:           config.ServerRef{Namespace: "demo", Name: "everything", UID: "0b1f3c1e-8f0a-4a5e-9d55-2f1c0a6f7e11"},
		Workload:         w,
		Clocks:           config.NewClocks(config.DefaultDrainSeconds),
		ContractVersions: config.ContractVersions(),
	}}
	for _, d := range []string{"live", "keys"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p.putLive(config.DefaultLive())
	p.put("keys", "a1", bytes.Repeat([]byte("k"), config.KeyBytes))
	p.put("keys", config.SealWith, []byte("a1"))
	return p
}

func (p *pod) startAgent(flags ...string) {
	p.t.Helper()
	args := append([]string{"run", "--socket", p.path("agent.sock"), "--", binary("testworkload"), "serve"}, flags...)
	p.agent = launch(p.t, "mcp-agent", nil, args...)
}

func (p *pod) startWorkload(flags ...string) {
	p.t.Helper()
	args := append([]string{"serve-http", "--port", strconv.Itoa(p.boot.Workload.MCP.Port)}, flags...)
	p.workload = launch(p.t, "testworkload", nil, args...)
}

// startSidecar starts the sidecar and waits until its ports are open.
func (p *pod) startSidecar() {
	p.t.Helper()
	boot, _, err := config.EncodeBoot(p.boot)
	if err != nil {
		p.t.Fatal(err)
	}
	p.sidecar = launch(p.t, "mcp-sidecar",
		[]string{config.BootEnv + "=" + string(boot), config.EnvPodUID + "=pod-uid", config.EnvPodIP + "=" + outsideAddress(), "GOMEMLIMIT=200MiB"},
		"serve", "--log-level", "DEBUG",
		"--test-public", "127.0.0.1:0", "--test-admin", "127.0.0.1:0", "--test-metrics", "127.0.0.1:0",
		"--test-live-dir", p.path("live"), "--test-keys-dir", p.path("keys"),
		"--test-agent-socket", p.path("agent.sock"), "--test-hook-socket", p.path("hook.sock"))
	eventually(p.t, "the sidecar's ports are open", func() bool {
		if !p.sidecar.running() {
			p.t.Fatalf("the sidecar ended:\n%s", p.sidecar.log)
		}
		p.public, p.admin, p.metrics = p.address("public"), p.address("admin"), p.address("metrics")
		return p.public != "" && p.admin != "" && p.metrics != ""
	})
	eventually(p.t, "startup", func() bool { code, _ := p.get(p.admin, config.PathStartup); return code == 200 })
}

// address finds the base URL of a port in the sidecar's log.
func (p *pod) address(port string) string {
	for line := range strings.Lines(p.sidecar.log.String()) {
		var entry struct{ Msg, Port, Address string }
		if json.Unmarshal([]byte(line), &entry) == nil && entry.Msg == "listening" && entry.Port == port {
			return "http://" + entry.Address
		}
	}
	return ""
}

func (p *pod) path(name string) string { return filepath.Join(p.dir, name) }

// put writes a file of a mount, whole at once.
func (p *pod) put(mount, name string, data []byte) {
	p.t.Helper()
	tmp := p.path("tmp")
	if err := os.WriteFile(tmp, data, 0o644); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(tmp, filepath.Join(p.dir, mount, name)); err != nil {
		p.t.Fatal(err)
	}
}

// putLive publishes a live contract and returns its digest.
func (p *pod) putLive(l config.Live) string {
	p.t.Helper()
	gz, digest, err := config.EncodeLive(l)
	if err != nil {
		p.t.Fatal(err)
	}
	p.put("live", config.LiveKey(l.Version), gz)
	return digest
}

func (p *pod) get(base, path string) (code int, body string) {
	p.t.Helper()
	resp, err := http.Get(base + path)
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

func (p *pod) isReady() bool { code, _ := p.get(p.admin, config.PathReadyz); return code == 200 }

// ready waits until the pod is ready, and returns it.
func (p *pod) ready() *pod {
	p.t.Helper()
	eventually(p.t, "the pod is ready", p.isReady)
	return p
}

func (p *pod) status() (s config.Status) {
	p.t.Helper()
	_, body := p.get(p.admin, config.PathStatus)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		p.t.Fatalf("%v in %q", err, body)
	}
	return s
}

// failed waits until the workload has failed for a reason.
func (p *pod) failed(reason string) config.WorkloadStatus {
	p.t.Helper()
	var w config.WorkloadStatus
	eventually(p.t, "the workload fails with "+reason, func() bool {
		w = p.status().Workload
		return w.State == config.WorkloadFailed && w.Reason == reason
	})
	return w
}

// metric is the sum of all series of a name, optionally with a label text.
func (p *pod) metric(name, label string) (sum float64) {
	p.t.Helper()
	_, text := p.get(p.metrics, "/metrics")
	for line := range strings.Lines(text) {
		series, value, ok := strings.Cut(strings.TrimSpace(line), " ")
		base, _, _ := strings.Cut(series, "{")
		if !ok || base != name || !strings.Contains(series, label) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			p.t.Fatalf("%q: %v", line, err)
		}
		sum += n
	}
	return sum
}

// hook runs the preStop hook of a container.
func (p *pod) hook(kind string) *process {
	return launch(p.t, "mcp-agent", nil, "hook", kind, "--socket", p.path("hook.sock"), "--deadline", strconv.Itoa(p.boot.Clocks.Hook())+"s")
}

// Ports for workloads: below those that the kernel gives to whoever wants any,
// so that nobody takes one before its workload listens, or between two of them.
const (
	firstPort = 20_000
	portCount = 10_000
)

// nextPort counts the ports that were given out.
var nextPort atomic.Int64

// freePort is a port that nobody listens on, and that no other test gets. Runs
// beside this one begin elsewhere.
func freePort(t *testing.T) int {
	t.Helper()
	for range portCount {
		port := firstPort + (os.Getpid()*61+int(nextPort.Add(1)))%portCount
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

// outsideAddress is an address of this machine that is not loopback, empty if
// there is none.
func outsideAddress() string {
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && ip.IP.To4() != nil && !ip.IP.IsLoopback() {
			return ip.IP.String()
		}
	}
	return ""
}
