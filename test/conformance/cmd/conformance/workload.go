package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

// servers are the processes under test, by the revisions that they serve: ""
// is the one that serves all, which everything runs against that can.
type servers map[string]*workload

// start starts those that the jobs need and gives the jobs their URLs.
func (s servers) start(ctx context.Context, o *options, jobs []job) error {
	for i := range jobs {
		set := jobs[i].Set
		if set.Leg != suite.ServerLeg {
			continue
		}
		revisions := ""
		if set.Alone {
			revisions = set.Revision
		}
		if s[revisions] == nil {
			w, err := startWorkload(ctx, o, revisions)
			if err != nil {
				return err
			}
			s[revisions] = w
		}
		jobs[i].URL = s[revisions].url
	}
	return nil
}

// stop stops all of them.
func (s servers) stop() error {
	var errs []error
	for _, w := range s {
		errs = append(errs, w.stop())
	}
	return errors.Join(errs...)
}

// workload is one server process.
type workload struct {
	url  string
	dir  string
	cmd  *exec.Cmd
	out  *os.File
	read chan struct{} // closed when its output ended
	once sync.Once
	err  error
}

// startDelay is what the process may take to listen, endDelay to end.
const (
	startDelay = 20 * time.Second
	endDelay   = 20 * time.Second
)

// startWorkload starts the process on a free port of loopback and waits until
// it says its URL, the first line that it prints.
func startWorkload(ctx context.Context, o *options, revisions string) (*workload, error) {
	dir := o.path("workload" + revisions)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return nil, err
	}
	w := &workload{dir: dir, out: out, read: make(chan struct{})}
	// Ended by stop, not by ctx: an interrupt must not look like a crash.
	w.cmd = exec.CommandContext(context.WithoutCancel(ctx), o.workload, "-http", "127.0.0.1:0", "-revisions", revisions, "-record", filepath.Join(dir, recording))
	w.cmd.Stderr = out
	w.cmd.WaitDelay = endDelay
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the server under test: %w", err)
	}
	first := make(chan string, 1)
	go func() {
		defer close(w.read)
		lines := bufio.NewReader(stdout)
		line, _ := lines.ReadString('\n')
		first <- strings.TrimSpace(line)
		_, _ = io.Copy(out, lines) // ends with the process, that it is lost shows there
	}()
	select {
	case w.url = <-first:
	case <-time.After(startDelay):
	case <-ctx.Done():
	}
	if !strings.HasPrefix(w.url, "http://") {
		err := w.stop()
		return nil, fmt.Errorf("the server under test did not say its URL; see %s: %w", out.Name(), errors.Join(err, ctx.Err()))
	}
	what := "all revisions"
	if revisions != "" {
		what = revisions + " alone"
	}
	fmt.Printf("conformance: server of %s, process %d, at %s\n", what, w.cmd.Process.Pid, w.url)
	return w, nil
}

// stop asks the process to end and reports whether it had lived until then and
// ended as asked. Only the first call acts.
func (w *workload) stop() error {
	w.once.Do(func() {
		gone := w.cmd.Process.Signal(syscall.SIGTERM)
		deadline := time.AfterFunc(endDelay, func() { _ = w.cmd.Process.Kill() })
		defer deadline.Stop()
		<-w.read // Wait closes the pipe
		err := w.cmd.Wait()
		switch {
		case errors.Is(gone, os.ErrProcessDone):
			w.err = fmt.Errorf("the server under test ended by itself: %w", errors.Join(err, gone))
		case err != nil:
			w.err = fmt.Errorf("the server under test did not end when asked: %w", err)
		}
		w.err = errors.Join(w.err, w.out.Close())
	})
	return w.err
}
