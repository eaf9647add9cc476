package app

import (
	"context"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	serve "github.com/fairlead-dev/fairlead/runtime/transport/stdio"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable/edgetest"
	"github.com/fairlead-dev/fairlead/sidecar/agent"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/drain"
	"github.com/fairlead-dev/fairlead/sidecar/upstream/stdio"
)

// pipes starts a server in memory where a pod starts a process.
type pipes struct{ server dispatch.Server }

func (pipes) Check(context.Context) error { return nil }

func (p pipes) Start(context.Context, string) (stdio.Child, error) {
	ctx, kill := context.WithCancel(context.Background())
	c := &piped{done: make(chan struct{}), kill: kill}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	c.stdin, c.stdout = stdin, stdout
	go func() {
		defer close(c.done)
		_ = serve.Serve(ctx, p.server, serve.Options{RequestTimeout: -1}, in, out)
		_ = in.Close()
		_ = out.Close()
	}()
	return c, nil
}

type piped struct {
	stdin  io.WriteCloser
	stdout io.ReadCloser
	done   chan struct{}
	kill   context.CancelFunc
}

func (c *piped) Stdin() io.WriteCloser { return c.stdin }
func (c *piped) Stdout() io.ReadCloser { return c.stdout }
func (c *piped) Done() <-chan struct{} { return c.done }
func (c *piped) Exit() agent.Exit      { return agent.Exit{} }
func (c *piped) Stop()                 { _ = c.stdin.Close() }
func (c *piped) Close()                { _ = c.stdin.Close(); _ = c.stdout.Close(); c.kill() }

// sidecar is the whole App in front of a workload on pipes that speaks a
// revision; "" has it found out that it speaks all.
func sidecar(revision string) edgetest.Target {
	return edgetest.Target{Framed: true, Serve: func(t *testing.T, server dispatch.Server, s edgetest.Settings, f func(*testing.T, edgetest.Dial)) {
		t.Helper()
		synctest.Test(t, func(t *testing.T) {
			w, live := config.DefaultStdio(), config.DefaultLive()
			w.Revision = revision
			live.Network.AllowedOrigins = s.Origins
			if s.MaxBody > 0 {
				live.Limits.MaxBodyBytes = s.MaxBody
			}
			if s.Timeout > 0 {
				live.Limits.RequestSeconds = int(s.Timeout / time.Second)
			}
			public := edgetest.NewListener(s.Address)
			a := inMemory(t, w, live, public, pipes{server})
			runs(t, a, func() {
				if why := a.notReady(); why != "" {
					t.Errorf("not ready: %s", why)
				}
				f(t, public.Dial)
			})
		})
	}}
}

// inMemory is an App without sockets and processes.
func inMemory(t *testing.T, w config.Stdio, live config.Live, public net.Listener, starter stdio.Starter) *App {
	t.Helper()
	a, err := New(Config{
		Boot: config.Boot{
			Version: 1, Server: config.ServerRef{Namespace: "n", Name: "s", UID: "u"},
			Workload: config.Workload{Type: config.WorkloadStdio, Stdio: &w},
			Clocks:   config.NewClocks(30), ContractVersions: config.ContractVersions(),
		},
		PodUID: "pod-uid", Live: &live,
		Drain: drain.Clocks{Drain: time.Second}, Ending: 5 * time.Second,
		Log:    slog.New(slog.DiscardHandler),
		public: public, starter: starter,
	}, Proxy)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// runs runs an App while f does, in virtual time.
func runs(t *testing.T, a *App, f func()) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	synctest.Wait()
	f()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	time.Sleep(time.Minute) // what lingers ends by itself
}

// TestTheEdge runs every table of the HTTP edge through the sidecar, before a
// workload of the legacy era and before one of both. P33, B2.1, B2.2, B2.3,
// B2.5, B2.6, B15.4.
func TestTheEdge(t *testing.T) {
	for before, target := range map[string]edgetest.Target{"a legacy workload": sidecar("2025-11-25"), "a workload of both eras": sidecar("")} {
		for name, table := range map[string]func(*testing.T, edgetest.Target){
			"Accept": edgetest.Accept, "batches of fields": edgetest.RepeatedFields, "bodies that are no message": edgetest.BrokenBodies,
			"bodies of sockets": edgetest.RawBodies, "cursors": edgetest.Cursors, "expectations": edgetest.Expectations, "forwarding": edgetest.Forwarded,
			"HTTP methods": edgetest.Methods, "ids": edgetest.OddIDs, "initialize": edgetest.Initialize, "legacy requests": edgetest.LegacyRequests,
			"local names": edgetest.LocalNames, "long answers": edgetest.LongAnswer, "long streams": edgetest.LongStandalone, "media types": edgetest.MediaTypes,
			"_meta": edgetest.OddMeta, "modern requests": edgetest.ModernRequests, "names": edgetest.OddNames, "origins": edgetest.Origins, "paths": edgetest.Paths,
			"pipelining": edgetest.Pipelining, "preflights": edgetest.Preflights, "sizes": edgetest.BodySizes, "slow bodies": edgetest.SlowBodies,
			"streams": edgetest.Streams, "text": edgetest.OddText,
		} {
			t.Run(before+"/"+name, func(t *testing.T) { table(t, target) })
		}
	}
}

// P33.2: HTTP/2 in clear text is refused at once, by prior knowledge as by an
// upgrade: a proxy in front speaks HTTP/1.1 to us.
func TestHTTP2InClearTextIsRefused(t *testing.T) {
	r := ready(t, nil)
	for name, tt := range map[string]struct{ send, want string }{
		"by prior knowledge": {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 404"},
		"by an upgrade":      {"GET /healthz HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n", "HTTP/1.1 200"},
	} {
		conn, err := net.Dial("tcp", r.Address())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, tt.send)
		head := make([]byte, len(tt.want))
		if _, err := io.ReadFull(conn, head); err != nil || string(head) != tt.want {
			t.Errorf("%s: %q %v", name, head, err)
		}
		_ = conn.Close()
	}
}
