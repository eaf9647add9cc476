package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/hook"
)

// podHooks is a sidecar as its hooks see it.
type podHooks struct {
	socket            string
	draining, drained chan struct{}
	end               func()
}

func servePod(t *testing.T, change func(*hook.Server)) *podHooks {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil { // as an emptyDir
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	p := &podHooks{
		socket:   filepath.Join(dir, "hook.sock"),
		draining: make(chan struct{}),
		drained:  make(chan struct{}),
	}
	var once sync.Once
	s := &hook.Server{
		Drain:            func(string) { once.Do(func() { close(p.draining) }) },
		Draining:         p.draining,
		Drained:          p.drained,
		WorkloadStopping: func(context.Context) {},
	}
	if change != nil {
		change(s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, p.socket) }()
	p.end = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(p.end)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(p.socket); err == nil {
			return p
		}
		if time.Now().After(deadline) {
			t.Fatal("the hook server does not listen")
		}
	}
}

// The kubelet shows status and stderr of a failed hook to whoever looks at the
// pod's events.
func TestHooksAsTheKubeletRunsThem(t *testing.T) { // O3
	t.Run("normal deletion: both return 0 when drained", func(t *testing.T) {
		p := servePod(t, func(s *hook.Server) { s.RestartAfter = time.Minute })
		go func() {
			<-p.draining
			close(p.drained)
		}()
		var both sync.WaitGroup
		for _, kind := range []string{"workload", "sidecar"} {
			both.Go(func() {
				if status, text := runAgent(t, "hook", kind, "--socket", p.socket, "--deadline", "1m"); status != 0 || text != "" {
					t.Errorf("%s: status %d: %s", kind, status, text)
				}
			})
		}
		both.Wait()
	})
	t.Run("container restart: 0, and no drain", func(t *testing.T) {
		p := servePod(t, func(s *hook.Server) { s.RestartAfter = time.Millisecond })
		if status, text := runAgent(t, "hook", "workload", "--socket", p.socket, "--deadline", "1m"); status != 0 || text != "" {
			t.Errorf("status %d: %s", status, text)
		}
		select {
		case <-p.draining:
			t.Error("it drained")
		default:
		}
	})
	t.Run("the drain takes longer than the hook may: 4", func(t *testing.T) {
		p := servePod(t, nil)
		status, text := runAgent(t, "hook", "sidecar", "--socket", p.socket, "--deadline", "50ms")
		if status != 4 || !strings.Contains(text, "sidecar hook: calls are still in flight after") {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("the sidecar dies in the drain: 3 at once", func(t *testing.T) {
		p := servePod(t, nil)
		go func() {
			<-p.draining
			p.end()
		}()
		status, text := runAgent(t, "hook", "sidecar", "--socket", p.socket, "--deadline", "10m")
		if status != 3 || !strings.Contains(text, "the sidecar ended before the drain did") {
			t.Errorf("status %d: %s", status, text)
		}
	})
	t.Run("no sidecar: 1 at once", func(t *testing.T) {
		status, text := runAgent(t, "hook", "workload", "--socket", "/no/such.sock", "--deadline", "10m")
		if status != 1 || !strings.Contains(text, "workload hook: nothing is drained: the sidecar does not listen") {
			t.Errorf("status %d: %s", status, text)
		}
	})
}

func TestAnotherUserCannotDrainThePodOrPoseAsTheSidecar(t *testing.T) { // O3, O9, W18.11
	if os.Getuid() != 0 {
		if testing.Short() {
			t.Skip("needs root to become another user")
		}
		t.Fatal("only root can become another user: sudo -E go test ./sidecar/cmd/mcp-agent, or -short to leave this out")
	}
	stranger := func(socket string, kind string) (int, string) {
		cmd := exec.CommandContext(t.Context(), agentBinary, "hook", kind, "--socket", socket, "--deadline", "1m")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 10001, Gid: 10001}}
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState == nil {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), string(out)
	}
	p := servePod(t, func(s *hook.Server) { s.RestartAfter = time.Millisecond })
	// Our program does not even ask a sidecar of another user …
	if status, text := stranger(p.socket, "sidecar"); status != 1 || !strings.Contains(text, "belongs to another user") {
		t.Errorf("status %d: %s", status, text)
	}
	// … and the workload's hook is for everybody, through a socket of root's.
	if status, text := stranger(p.socket, "workload"); status != 0 || text != "" {
		t.Errorf("status %d: %s", status, text)
	}
	select {
	case <-p.draining:
		t.Error("it drained")
	default:
	}
}
