package agent

import (
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent/internal/wire"
)

// Default clocks, and the longest that may be asked for. The defaults add up
// to the workload's TERM to KILL time of O3 (5 s).
const (
	DefaultStdinGrace = 2 * time.Second
	DefaultTermGrace  = 3 * time.Second
	MaxGrace          = 10 * time.Minute
)

// StartRequest asks for one process.
type StartRequest struct {
	// Key names the process: in the log prefix of its stderr and in its
	// environment, by which its orphans are found. 1 to 64 of [A-Za-z0-9_-],
	// unique among the living; make it unguessable and use it once.
	Key string
	// Env is added to the workload container's own environment, and wins.
	Env map[string]string
	// Cwd is the working directory; empty: the container's.
	Cwd string
	// Argv replaces the command that the agent was started with. Only an
	// agent with --exec accepts it (O11); empty for a Stdio workload.
	Argv []string
	// StdinGrace is how long the process may take to end by itself once its
	// stdin is closed, before TERM. TermGrace is from TERM to KILL. Zero:
	// the default. At most MaxGrace, counted in milliseconds.
	StdinGrace, TermGrace time.Duration
}

func (r StartRequest) wire() (*wire.Start, error) {
	s := &wire.Start{
		Key:         r.Key,
		Env:         r.Env,
		Cwd:         r.Cwd,
		Argv:        r.Argv,
		StdinMillis: millis(r.StdinGrace, DefaultStdinGrace),
		TermMillis:  millis(r.TermGrace, DefaultTermGrace),
	}
	if err := s.Validate(); err != nil {
		return nil, &Error{Code: CodeMalformed, Err: err}
	}
	return s, nil
}

func millis(d, def time.Duration) int64 {
	if d == 0 {
		d = def
	}
	return int64((d + time.Millisecond - 1) / time.Millisecond)
}
