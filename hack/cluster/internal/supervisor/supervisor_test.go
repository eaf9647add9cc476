package supervisor

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func always(context.Context) error { return nil }

// run starts units and a control server, and ends both with the test.
func run(t *testing.T, units ...Unit) *Client {
	t.Helper()
	s, err := New(t.TempDir(), os.Environ(), units)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "control.sock")
	ln, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: s.Handler()}
	go func() { _ = srv.Serve(ln) }()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { s.Run(ctx); close(done) }()
	t.Cleanup(func() {
		srv.Close()
		cancel()
		<-done
	})
	return NewClient(socket)
}

// until polls the control interface, as `cluster up` does.
func until(t *testing.T, c *Client, name string, ok func(Status) bool) Status {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var last []Status
	for {
		units, err := c.Units(ctx)
		if err != nil {
			t.Fatalf("%v; last seen %+v", err, last)
		}
		last = units
		if i := slices.IndexFunc(units, func(s Status) bool { return s.Name == name && ok(s) }); i >= 0 {
			return units[i]
		}
	}
}

func ready(s Status) bool { return s.State == Ready }

func TestAProgramThatEndsIsStartedAgain(t *testing.T) {
	c := run(t, Unit{Name: "short", Argv: []string{"sh", "-c", "exit 3"}, Ready: func(context.Context) error { return errors.New("never") }})
	s := until(t, c, "short", func(s Status) bool { return s.Starts >= 2 && s.State == Restarting })
	if s.LastExit != "exit status 3" {
		t.Errorf("last exit %q", s.LastExit)
	}
}

func TestAProgramThatDoesNotExistIsReported(t *testing.T) {
	c := run(t, Unit{Name: "none", Argv: []string{"/no/such/program"}, Ready: always})
	s := until(t, c, "none", func(s Status) bool { return s.LastExit != "" })
	if !strings.Contains(s.LastExit, "no such file") || s.Starts != 0 {
		t.Errorf("got %+v", s)
	}
}

func TestAUnitWaitsForThoseItNeeds(t *testing.T) {
	gate := filepath.Join(t.TempDir(), "gate")
	c := run(t,
		Unit{Name: "first", Argv: []string{"sleep", "600"}, Ready: func(context.Context) error { _, err := os.Stat(gate); return err }},
		Unit{Name: "second", Argv: []string{"sleep", "600"}, Ready: always, Needs: []string{"first"}})
	first := until(t, c, "first", func(s Status) bool { return s.NotReady != "" })
	if first.State != Starting {
		t.Errorf("first is %s", first.State)
	}
	until(t, c, "second", func(s Status) bool { return s.State == Waiting && s.Starts == 0 })
	if err := os.WriteFile(gate, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	until(t, c, "second", ready)
}

func TestANeedThatComesLaterIsRefused(t *testing.T) {
	_, err := New(t.TempDir(), nil, []Unit{{Name: "a", Needs: []string{"b"}}, {Name: "b"}})
	if err == nil || !strings.Contains(err.Error(), "needs b") {
		t.Errorf("error %v", err)
	}
}

func TestHoldStopsAndReleaseStartsAgain(t *testing.T) {
	c := run(t, Unit{Name: "server", Argv: []string{"sleep", "600"}, Ready: always})
	before := until(t, c, "server", ready)
	if err := c.Act(t.Context(), "server", "hold"); err != nil {
		t.Fatal(err)
	}
	held := until(t, c, "server", func(Status) bool { return true })
	if held.State != Held || held.PID != 0 {
		t.Errorf("after hold: %+v", held)
	}
	if err := c.Act(t.Context(), "server", "release"); err != nil {
		t.Fatal(err)
	}
	after := until(t, c, "server", func(Status) bool { return true })
	if after.State != Ready || after.Starts != before.Starts+1 || after.PID == before.PID {
		t.Errorf("after release: %+v, before: %+v", after, before)
	}
	if after.ReadyAt != before.ReadyAt {
		t.Error("the time of the first readiness moved")
	}
}

func TestRestartReturnsWhenTheNewOneIsReady(t *testing.T) {
	c := run(t, Unit{Name: "server", Argv: []string{"sleep", "600"}, Ready: always})
	before := until(t, c, "server", ready)
	if err := c.Act(t.Context(), "server", "restart"); err != nil {
		t.Fatal(err)
	}
	after := until(t, c, "server", func(Status) bool { return true })
	if after.State != Ready || after.Starts != before.Starts+1 {
		t.Errorf("got %+v", after)
	}
}

func TestUnknownComponentsAndActionsAreErrors(t *testing.T) {
	c := run(t, Unit{Name: "server", Argv: []string{"sleep", "600"}, Ready: always})
	if err := c.Act(t.Context(), "no-such", "hold"); err == nil || !strings.Contains(err.Error(), "no-such") {
		t.Errorf("component: %v", err)
	}
	if err := c.Act(t.Context(), "server", "explode"); err == nil || !strings.Contains(err.Error(), "explode") {
		t.Errorf("action: %v", err)
	}
}
