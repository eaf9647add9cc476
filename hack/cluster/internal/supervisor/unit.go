package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// errHeld: a hold arrived between the decision to start a program and its start.
var errHeld = errors.New("held")

// unit is a Unit with what is known of it. All fields below mu are guarded by it.
type unit struct {
	Unit
	everReady chan struct{} // closed when it is ready for the first time

	mu      sync.Mutex
	status  Status
	held    bool
	proc    *exec.Cmd
	changed chan struct{} // closed and replaced at every change
}

func (u *unit) snapshot() Status {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.status
}

// set changes the unit and wakes whoever waits for a change. mu must be held.
func (u *unit) set(change func(*Status)) {
	change(&u.status)
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *unit) start(cmd *exec.Cmd) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held {
		return errHeld
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	u.proc = cmd
	u.set(func(s *Status) { s.State, s.PID, s.NotReady = Starting, cmd.Process.Pid, ""; s.Starts++ })
	return nil
}

func (u *unit) ended(how string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.proc = nil
	state := Restarting
	if u.held {
		state = Held
	}
	u.set(func(s *Status) { s.State, s.PID, s.LastExit = state, 0, how })
}

// observed records one readiness check and says whether the unit is ready.
func (u *unit) observed(err error, since time.Duration) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.status.State != Starting {
		return true
	}
	if err != nil {
		u.status.NotReady = err.Error()
		return false
	}
	u.set(func(s *Status) {
		s.State, s.NotReady = Ready, ""
		if s.ReadyAt == 0 {
			s.ReadyAt = since.Seconds()
			close(u.everReady)
		}
	})
	return true
}

// waitReleased blocks while the unit is held; false when ctx ends first.
func (u *unit) waitReleased(ctx context.Context) bool {
	return u.wait(ctx, func() bool { return !u.held }) == nil
}

func (u *unit) wait(ctx context.Context, done func() bool) error {
	for {
		u.mu.Lock()
		ok, changed := done(), u.changed
		u.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%s is %s: %w", u.Name, u.snapshot().State, ctx.Err())
		}
	}
}

// kill ends the process without a chance to say goodbye: that is what tests
// want to see survived, and a polite API server takes a minute.
func (u *unit) kill(hold bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if hold {
		u.held = true
		if u.proc == nil {
			u.set(func(s *Status) { s.State = Held })
		}
	}
	if u.proc != nil {
		_ = u.proc.Process.Signal(syscall.SIGKILL)
	}
}

func (u *unit) release() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.held {
		u.held = false
		u.set(func(s *Status) { s.State = Restarting })
	}
}
