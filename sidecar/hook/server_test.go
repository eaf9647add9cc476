package hook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// serving runs p's server until the test's end and returns its socket.
func serving(t *testing.T, p *pod) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook.sock")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Serve(ctx, path) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the socket is left behind")
		}
	})
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
			return path
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
}

// observed collects what the server says of its hooks.
type observed struct {
	mu   sync.Mutex
	seen []string
}

func (o *observed) add(kind Kind, outcome Outcome) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seen = append(o.seen, fmt.Sprintf("%s %s", kind, outcome))
}

func (o *observed) wait(t *testing.T, want string) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		o.mu.Lock()
		seen := strings.Join(o.seen, ", ")
		o.mu.Unlock()
		if strings.Contains(seen, want) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("never observed %q among %q", want, seen)
		}
		time.Sleep(time.Millisecond)
	}
}

func TestOverTheSocketBothHooksReturnWithTheDrain(t *testing.T) { // O3, normal deletion
	p := newPod()
	p.RestartAfter = time.Hour // the workload's hook waits for the drain
	path := serving(t, p)
	workload := make(chan error, 1)
	go func() {
		outcome, err := Ask(t.Context(), path, KindWorkload)
		if outcome != OutcomeDrained {
			err = fmt.Errorf("%v: %w", outcome, err)
		}
		workload <- err
	}()
	go func() {
		<-p.draining
		close(p.drained)
	}()
	if outcome, err := Ask(t.Context(), path, KindSidecar); outcome != OutcomeDrained || err != nil {
		t.Errorf("sidecar: %v, %v", outcome, err)
	}
	if err := <-workload; err != nil {
		t.Errorf("workload: %v", err)
	}
}

func TestAWorkloadRestartNeverDrains(t *testing.T) { // O3, liveness restart
	p := newPod()
	p.RestartAfter, p.RestartWait = time.Millisecond, time.Millisecond
	path := serving(t, p)
	for range 3 { // it may be restarted again and again
		if outcome, err := Ask(t.Context(), path, KindWorkload); outcome != OutcomeRestart || err != nil {
			t.Errorf("%v, %v", outcome, err)
		}
	}
	if p.drains != 0 {
		t.Error("it drained")
	}
}

func TestAStrangerCannotDrainThePod(t *testing.T) { // O3
	p := newPod()
	here, there := pair(t)
	var o observed
	p.Observe = o.add
	go func() {
		h := handler{server: &p.Server, conn: here, trusted: false}
		h.serve(t.Context())
	}()
	fmt.Fprintln(there, request(KindSidecar))
	got, _ := io.ReadAll(there)
	if string(got) != answer(OutcomeForbidden)+"\n" || p.drains != 0 {
		t.Errorf("got %q, drains %d", got, p.drains)
	}
	o.wait(t, "sidecar forbidden")
}

func pair(t *testing.T) (here, there *net.UnixConn) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err = net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { there.Close() })
	if here, err = l.AcceptUnix(); err != nil {
		t.Fatal(err)
	}
	return here, there
}

func TestRequestsThatAreNotOursAreRefused(t *testing.T) {
	p := newPod()
	path := serving(t, p)
	for name, line := range map[string]string{
		"another version":  `{"v":2,"hook":"sidecar"}`,
		"blanks":           `{"v": 1, "hook": "sidecar"}`,
		"another kind":     `{"v":1,"hook":"node"}`,
		"HTTP":             "GET /drain HTTP/1.1",
		"a line too long":  strings.Repeat("x", 1000),
		"an outcome":       answer(OutcomeDrained),
		"the unknown kind": request(KindUnknown),
	} {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintln(c, line)
			got, _ := io.ReadAll(c)
			if string(got) != answer(OutcomeMalformed)+"\n" {
				t.Errorf("got %q", got)
			}
		})
	}
	if p.drains != 0 {
		t.Error("it drained")
	}
}

func TestHooksAreBoundedAndHangingOnesCannotKeepOthersOut(t *testing.T) {
	p := newPod()
	p.RestartAfter = time.Hour
	var o observed
	p.Observe = o.add
	path := serving(t, p)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	refused := make(chan struct{}, 2*maxHooks)
	for range 2 * maxHooks {
		wg.Go(func() {
			if _, err := Ask(ctx, path, KindWorkload); errors.Is(err, ErrRefused) {
				refused <- struct{}{}
			}
		})
	}
	for range maxHooks { // the rest hang
		<-refused
	}
	cancel()
	wg.Wait()
	o.wait(t, "workload gone") // and the places are free again
	close(p.draining)
	close(p.drained)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		outcome, err := Ask(t.Context(), path, KindWorkload)
		if outcome == OutcomeDrained {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v, %v", outcome, err)
		}
	}
}

func TestAServerThatEndsLetsItsHooksGo(t *testing.T) { // O3, sidecar gone in the drain
	p := newPod()
	path := filepath.Join(t.TempDir(), "hook.sock")
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- p.Serve(ctx, path) }()
	asked := make(chan error, 1)
	go func() {
		for {
			_, err := Ask(t.Context(), path, KindSidecar)
			if !errors.Is(err, ErrUnreachable) { // until it listens
				asked <- err
				return
			}
		}
	}()
	<-p.draining
	cancel()
	if err := <-asked; !errors.Is(err, ErrGone) {
		t.Errorf("hook: %v", err)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := Ask(t.Context(), path, KindWorkload); !errors.Is(err, ErrUnreachable) {
		t.Errorf("a hook after the end: %v", err)
	}
}

func TestAskGivesUpAtItsDeadline(t *testing.T) { // O3, no hook runs into the grace
	p := newPod()
	path := serving(t, p)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Ask(ctx, path, KindSidecar); !errors.Is(err, ErrDeadline) {
		t.Errorf("got %v", err)
	}
}

func TestAServerWithoutItsFunctionsDoesNotStart(t *testing.T) {
	if err := (&Server{}).Serve(t.Context(), filepath.Join(t.TempDir(), "s")); err == nil {
		t.Error("it served")
	}
}
