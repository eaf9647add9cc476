// Package supervisor keeps a fixed set of programs running: it starts each when
// those it needs have become ready, starts it again when it ends, and can hold
// one stopped until it is released. It knows nothing of Kubernetes.
package supervisor

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Delays of the restart loop and of readiness polling.
const (
	RestartDelay = 500 * time.Millisecond
	readyPoll    = 50 * time.Millisecond
	readyTimeout = 2 * time.Second // of one attempt
)

// Unit is one program.
type Unit struct {
	Name  string
	Argv  []string
	Needs []string // units that must have been ready once before the first start
	// Ready is polled after each start until it returns nil. It must respect ctx.
	Ready func(ctx context.Context) error
}

// State of a unit.
type State string

// States, in the order of a normal life.
const (
	Waiting    State = "Waiting"    // for the units it needs
	Starting   State = "Starting"   // runs, not ready yet
	Ready      State = "Ready"      // has answered once since it was started
	Restarting State = "Restarting" // has ended, is started again in RestartDelay
	Held       State = "Held"       // is kept stopped until released
)

// Status is a unit as seen at one moment.
type Status struct {
	Name     string  `json:"name"`
	State    State   `json:"state"`
	PID      int     `json:"pid,omitempty"` // in the node's pid namespace
	Starts   int     `json:"starts"`
	ReadyAt  float64 `json:"readyAtSeconds,omitempty"` // since the supervisor started, first time
	LastExit string  `json:"lastExit,omitempty"`
	NotReady string  `json:"notReady,omitempty"` // why the last readiness check failed
}

// Supervisor runs units. Create it with New, run it with Run; its other methods
// may be called from any goroutine while Run runs.
type Supervisor struct {
	logDir string
	env    []string
	began  time.Time
	units  []*unit
}

// New prepares units that log to logDir/<name>.log and see exactly env.
func New(logDir string, env []string, units []Unit) (*Supervisor, error) {
	s := &Supervisor{logDir: logDir, env: env, began: time.Now()}
	for _, u := range units {
		for _, need := range u.Needs {
			if s.find(need) == nil {
				return nil, fmt.Errorf("unit %s needs %s, which is not listed before it", u.Name, need)
			}
		}
		s.units = append(s.units, &unit{Unit: u, status: Status{Name: u.Name, State: Waiting}, everReady: make(chan struct{}), changed: make(chan struct{})})
	}
	return s, nil
}

// Run starts the units and returns when ctx is done and all have ended.
func (s *Supervisor) Run(ctx context.Context) {
	var wg sync.WaitGroup
	for _, u := range s.units {
		wg.Go(func() { s.loop(ctx, u) })
	}
	wg.Wait()
}

// Status of all units in the order given to New.
func (s *Supervisor) Status() []Status {
	out := make([]Status, 0, len(s.units))
	for _, u := range s.units {
		out = append(out, u.snapshot())
	}
	return out
}

func (s *Supervisor) find(name string) *unit {
	i := slices.IndexFunc(s.units, func(u *unit) bool { return u.Name == name })
	if i < 0 {
		return nil
	}
	return s.units[i]
}

func (s *Supervisor) loop(ctx context.Context, u *unit) {
	for _, need := range u.Needs {
		select {
		case <-s.find(need).everReady:
		case <-ctx.Done():
			return
		}
	}
	for {
		if !u.waitReleased(ctx) {
			return
		}
		exit := s.runOnce(ctx, u)
		if ctx.Err() != nil {
			return
		}
		u.ended(exit)
		select {
		case <-time.After(RestartDelay):
		case <-ctx.Done():
			return
		}
	}
}

// runOnce runs the program to its end and says how it ended.
func (s *Supervisor) runOnce(ctx context.Context, u *unit) string {
	log, err := os.OpenFile(filepath.Join(s.logDir, u.Name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, u.Argv[0], u.Argv[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = s.env, log, log
	if err := u.start(cmd); err != nil {
		return err.Error()
	}
	go s.watchReady(ctx, u)
	err = cmd.Wait()
	exit := "exit 0"
	if err != nil {
		exit = err.Error()
	}
	fmt.Fprintf(log, "--- %s %s: %s\n", time.Now().UTC().Format(time.RFC3339), u.Name, exit)
	return exit
}

func (s *Supervisor) watchReady(ctx context.Context, u *unit) {
	for ctx.Err() == nil {
		attempt, cancel := context.WithTimeout(ctx, readyTimeout)
		err := u.Ready(attempt)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if u.observed(err, time.Since(s.began)) {
			return
		}
		select {
		case <-time.After(readyPoll):
		case <-ctx.Done():
		}
	}
}
