package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Job is one run of the suite: a process that leaves a folder of results.
type Job struct {
	Set *Set
	// Only is the one scenario to run; empty is the whole set. The client leg
	// always runs one at a time, as a set cannot be narrowed there.
	Only string
	// URL is the server under test; Command the client under test, to which
	// the suite adds the URL of its own server.
	URL, Command string
	// Dir is where the results go; made, and emptied before.
	Dir string
	// Timeout bounds the run, and each scenario of the client leg.
	Timeout time.Duration
}

// killDelay is how long the suite may take to end after it was told to.
const killDelay = 5 * time.Second

// Run runs the job and returns the exit code of the suite. The code is not the
// verdict: it ignores warnings and scenarios that are not scored. All output is
// in the file "output" of the job's folder.
func (in *Install) Run(ctx context.Context, j Job) (code int, err error) {
	if err := os.RemoveAll(j.Dir); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(j.Dir, 0o755); err != nil {
		return 0, err
	}
	out, err := os.Create(filepath.Join(j.Dir, "output"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()

	ctx, cancel := context.WithTimeout(ctx, j.Timeout)
	defer cancel()
	cmd := in.command(ctx, j.args()...)
	cmd.Stdout, cmd.Stderr = out, out
	// The suite starts the client under test in a shell: end both.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = killDelay
	err = cmd.Run()
	if ctx.Err() != nil {
		return 0, fmt.Errorf("the suite did not end within %s: %w", j.Timeout, context.Cause(ctx))
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() >= 0 {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (j *Job) args() []string {
	args := []string{string(j.Set.Leg), "--output-dir", j.Dir}
	switch {
	case j.Set.Leg == ClientLeg:
		args = append(args, "--command", j.Command, "--timeout", strconv.FormatInt(j.Timeout.Milliseconds(), 10))
	default:
		args = append(args, "--url", j.URL)
	}
	switch {
	case j.Only != "":
		// A requirement set decides membership, whatever the scenario says of
		// itself: that is what --requirements does too.
		args = append(args, "--scenario", j.Only, "--spec-version", j.Set.Revision, "--force")
	case j.Set.Required:
		args = append(args, "--requirements", j.Set.Revision)
	default:
		args = append(args, "--suite", "all", "--spec-version", j.Set.Revision)
	}
	return args
}
