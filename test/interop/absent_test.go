//go:build peers

package interop

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// P33.15, P1, P24: a server that is about to end closes the streams of its
// clients; they come back and are let in, and their calls go on.
func TestDrainIsNoRefusal(t *testing.T) {
	t.Parallel()
	for name, f := range actors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			front := inProcess(t, tune{})
			s := around(t, front, countsOf(front), nil)
			c := f.talks(t, s.url)
			c.plain()
			ctx := bounded(t)
			if f.sessions() {
				eventually(ctx, t, "the stream is open", func() bool { return s.seen.gets.Load() == 1 })
			}
			front.Drain(10 * time.Millisecond)
			if f.sessions() {
				eventually(ctx, t, "the stream is open again", func() bool { return s.seen.opened.Load() >= 2 && s.seen.gets.Load() == 1 })
			}
			c.plain()
			f.answers(c)
			c.bye()
		})
	}
}

// P33.15, P1: a call during which the workload is away is held until it is
// back; no client sees that it was.
func TestAbsenceIsNoRefusal(t *testing.T) {
	t.Parallel()
	for what, offer := range map[string]mcp.Offer{"dual": nil, "legacy": mcp.Legacy(), "modern": mcp.Modern()} {
		for name, f := range actors() {
			t.Run(what+" workload, "+name, func(t *testing.T) {
				t.Parallel()
				web := httptest.NewServer(inProcess(t, tune{offer: offer}))
				t.Cleanup(func() {
					web.CloseClientConnections()
					web.Close()
				})
				workload, line := through(t, web.URL+"/mcp")
				side := runs(t, "--http", workload)
				s := around(t, side.front(), side.counts(), nil)
				c := f.talks(t, s.url)
				c.plain()
				ctx := bounded(t)
				eventually(ctx, t, "nothing is asked", func() bool { return s.seen.posts.Load() == 0 })
				// A call on a connection that breaks may have run, and fails;
				// from when the sidecar has seen it, calls wait.
				line.leave(t)
				eventually(ctx, t, "the sidecar has seen it", func() bool { return side.metric("fairlead_upstream_up") == 0 })
				c.say(order{Do: "call", Name: "test_simple_text"})
				eventually(ctx, t, "the call has arrived", func() bool { return s.seen.posts.Load() == 1 })
				time.Sleep(time.Second) // it must be held for as long as nobody is there
				if n := s.seen.posts.Load(); n != 1 {
					t.Errorf("%d requests are open: it was not held", n)
				}
				line.comeBack(t)
				if e := c.next("result", "failed"); e.failed() {
					t.Errorf("%s", c.out.Bytes())
				}
				f.answers(c)
				c.bye()
			})
		}
	}
}

// idleSeconds is how long our server and the sidecar keep what is not used:
// longer than Node takes from one request to the next, on a busy machine too.
const idleSeconds = 5

// P33.15, P15: a client that never ends its session leaves nothing for longer
// than it may be idle.
func TestDeleteNever(t *testing.T) {
	t.Parallel()
	for name, f := range actors() {
		if !f.sessions() {
			continue
		}
		t.Run("our server, "+name, func(t *testing.T) {
			t.Parallel()
			front := inProcess(t, tune{idle: idleSeconds * time.Second})
			arrived := leaveWithoutDelete(t, f, front, countsOf(front))
			if n := arrived.deletes.Load(); n != 0 {
				t.Errorf("%d DELETEs", n)
			}
		})
		t.Run("sidecar, pipes, "+name, func(t *testing.T) {
			t.Parallel()
			side := idlePod(t)
			before := side.metric("fairlead_processes")
			leaveWithoutDelete(t, f, side.front(), side.counts())
			eventually(bounded(t), t, "the process has ended", func() bool { return side.metric("fairlead_processes") <= before })
		})
	}
}

// leaveWithoutDelete uses a session whose DELETE never arrives.
func leaveWithoutDelete(t *testing.T, f foreignClient, next http.Handler, holds counts) *watch {
	t.Helper()
	arrived := &watch{Handler: next}
	s := around(t, arrived, holds, refuse(http.MethodDelete, http.StatusMethodNotAllowed))
	c := f.talks(t, s.url)
	c.plain()
	if n := holds.sessions(); n != 1 {
		t.Errorf("%d sessions", n)
	}
	// A session whose stream is open is not idle.
	ctx := bounded(t)
	eventually(ctx, t, "the stream is open", func() bool { return s.seen.gets.Load() == 1 })
	time.Sleep(2 * idleSeconds * time.Second)
	c.plain()
	c.bye()
	eventually(ctx, t, "the session has ended", func() bool { return holds.sessions() == 0 })
	eventually(ctx, t, "its streams have gone", func() bool { return holds.streams() == 0 && s.seen.gets.Load() == 0 })
	return arrived
}

// idlePod is a sidecar as a pod has it, with a workload over pipes and a short
// idle time.
func idlePod(t *testing.T) *sidecar {
	t.Helper()
	dir, err := os.MkdirTemp("", "pod") // short: it holds sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := func(name string) string { return filepath.Join(dir, name) }
	pipes := config.DefaultStdio()
	pipes.IdleSeconds = idleSeconds
	boot, _, err := config.EncodeBoot(config.Boot{
		Version:          config.BootVersion,
		Server:           config.ServerRef{Namespace: "peers", Name: "peers", UID: "0b1f3c1e-8f0a-4a5e-9d55-2f1c0a6f7e11"},
		Workload:         config.Workload{Type: config.WorkloadStdio, Stdio: &pipes},
		ClientRoots:      true,
		Clocks:           config.NewClocks(config.DefaultDrainSeconds),
		ContractVersions: config.ContractVersions(),
	})
	if err != nil {
		t.Fatal(err)
	}
	live, _, err := config.EncodeLive(config.DefaultLive())
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"live/" + config.LiveKey(config.LiveVersion): live,
		"keys/a1":                 bytes.Repeat([]byte("k"), config.KeyBytes),
		"keys/" + config.SealWith: []byte("a1"),
	} {
		if err := os.MkdirAll(filepath.Dir(path(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path(name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	launches(t, "mcp-agent", nil, "run", "--socket", path("agent.sock"), "--termination", "1s", "--", self, asWorkload)
	return launches(t, "mcp-sidecar", []string{config.BootEnv + "=" + string(boot), config.EnvPodUID + "=pod", config.EnvPodIP + "=127.0.0.1"},
		"serve", "--log-level", "INFO",
		"--test-public", "127.0.0.1:0", "--test-admin", "127.0.0.1:0", "--test-metrics", "127.0.0.1:0",
		"--test-live-dir", path("live"), "--test-keys-dir", path("keys"),
		"--test-agent-socket", path("agent.sock"), "--test-hook-socket", path("hook.sock"))
}
