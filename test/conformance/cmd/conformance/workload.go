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

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

// servers are the processes under test, by what tells them apart: the revisions
// that they serve alone, "" for the one that serves all, or what they stand in
// front of.
type servers map[string]*workload

// start starts those that the jobs need and gives the jobs their URLs. A
// sidecar that does not come up fails its jobs and no others.
func (s servers) start(ctx context.Context, o *options, jobs []job) error {
	failed := map[string]error{}
	for i := range jobs {
		set := jobs[i].Set
		if set.Leg != suite.ServerLeg {
			continue
		}
		name, start := "", startWorkload
		switch {
		case set.Via != "":
			name, start = set.Via, startSidecar
		case set.Alone:
			name = set.Revision
		}
		if s[name] == nil && failed[name] == nil {
			w, err := start(ctx, o, name)
			if err != nil && set.Via == "" {
				return err
			}
			if s[name] = w; err != nil {
				delete(s, name)
				failed[name] = err
			}
		}
		if jobs[i].failed = failed[name]; jobs[i].failed == nil {
			jobs[i].URL = s[name].url
		}
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
	// behind is what a sidecar forwards to, if that is a process of ours.
	behind *workload
	// front is between it and its clients, to record; nil for none.
	front *front
	// recordings are what was written down of it, to be judged when it has ended.
	recordings []recorded
}

// recorded are files of messages, by a pattern, and whose of them are judged.
type recorded struct {
	pattern string
	side    record.Side
}

// startDelay is what the process may take to listen, endDelay to end.
const (
	startDelay = 60 * time.Second
	endDelay   = 20 * time.Second
)

// startWorkload starts the server of these revisions on a free port of loopback.
func startWorkload(ctx context.Context, o *options, revisions string) (*workload, error) {
	dir := o.path("workload" + revisions)
	what := "all revisions"
	if revisions != "" {
		what = revisions + " alone"
	}
	w, err := launch(ctx, dir, "server of "+what, o.workload, "-http", "127.0.0.1:0", "-revisions", revisions, "-record", filepath.Join(dir, recording))
	if w != nil {
		w.recordings = []recorded{{filepath.Join(dir, recording), record.Ours}}
	}
	return w, err
}

// startSidecar starts a sidecar in front of a build of the workload, named as
// backs are.
func startSidecar(ctx context.Context, o *options, back string) (*workload, error) {
	era, binding, _ := strings.Cut(back, "-")
	behind, url := (*workload)(nil), ""
	dir := o.path("sidecar-" + back)
	// What the workload gets is what the sidecar sends; it may have many
	// processes.
	written := []string{"-record", filepath.Join(dir, "behind-{pid}.jsonl")}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if binding != "stdio" {
		var err error
		behind, err = launch(ctx, o.path("behind-"+back), "server of "+era+" revisions", o.workload, append(written, "-http", anyPort, "-revisions", era)...)
		if err != nil {
			return nil, err
		}
		url = behind.url
	}
	args := append([]string{"run", "--listen", anyPort}, sidecarArgs(era, binding, o.workload, url)...)
	if binding == "stdio" {
		args = append(args, written...)
	}
	w, err := launchRecorded(ctx, dir, "sidecar in front of "+back, o.sidecar, args...)
	if err != nil {
		if behind != nil {
			err = errors.Join(err, behind.stop())
		}
		return nil, err
	}
	w.behind = behind
	return w, nil
}

// launchRecorded is launch with a recording front.
func launchRecorded(ctx context.Context, dir, what, name string, args ...string) (*workload, error) {
	w, err := launch(ctx, dir, what, name, args...)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, recording)
	if w.front, err = startFront(w.url, file); err != nil {
		return nil, errors.Join(err, w.stop())
	}
	w.url = w.front.url
	w.recordings = []recorded{{file, record.Ours}, {filepath.Join(dir, "behind-*.jsonl"), record.Theirs}}
	return w, nil
}

// anyPort is where processes listen.
const anyPort = "127.0.0.1:0"

// sidecarArgs are the switches that put a sidecar in front of a workload.
func sidecarArgs(era, binding, program, url string) []string {
	args := []string{"--client-roots"} // the suite asks its client for roots (P7)
	if binding == "stdio" {
		return append(args, "--stdio", "--", program, "-stdio", "-revisions", era)
	}
	return append(args, "--http", url)
}

// switches are how each back is run, for the page.
func switches() (out []string) {
	for _, back := range backs {
		era, binding, _ := strings.Cut(back, "-")
		line := back + ": `mcp-sidecar run " + strings.Join(sidecarArgs(era, binding, "conformance-workload", "URL"), " ") + "`"
		if binding != "stdio" {
			line += " in front of `conformance-workload -http ADDRESS -revisions " + era + "`"
		}
		out = append(out, line)
	}
	return out
}

// launch starts a process and waits until it prints a URL.
func launch(ctx context.Context, dir, what, name string, args ...string) (*workload, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	out, err := os.Create(filepath.Join(dir, "output"))
	if err != nil {
		return nil, err
	}
	w := &workload{dir: dir, out: out, read: make(chan struct{})}
	// Ended by stop, not by ctx: an interrupt must not look like a crash.
	w.cmd = exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	w.cmd.Stderr = out
	w.cmd.WaitDelay = endDelay
	stdout, err := w.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := w.cmd.Start(); err != nil {
		return nil, fmt.Errorf("the %s: %w", what, err)
	}
	first := make(chan string, 1)
	go func() {
		defer close(w.read)
		lines := bufio.NewReader(stdout)
		first <- untilURL(lines)
		_, _ = io.Copy(out, lines) // ends with the process, that it is lost shows there
	}()
	select {
	case w.url = <-first:
	case <-time.After(startDelay):
	case <-ctx.Done():
	}
	if w.url == "" {
		err := w.stop()
		return nil, fmt.Errorf("the %s did not say its URL; see %s: %w", what, out.Name(), errors.Join(err, ctx.Err()))
	}
	fmt.Printf("conformance: %s, process %d, at %s\n", what, w.cmd.Process.Pid, w.url)
	return w, nil
}

// untilURL reads lines until one holds a URL; empty if none does.
func untilURL(lines *bufio.Reader) string {
	for {
		line, err := lines.ReadString('\n')
		if i := strings.Index(line, "http://"); i >= 0 {
			return strings.TrimSpace(line[i:])
		}
		if err != nil {
			return ""
		}
	}
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
		w.err = errors.Join(w.err, w.out.Close(), w.front.stop())
		if w.behind != nil {
			w.err = errors.Join(w.err, w.behind.stop())
		}
	})
	return w.err
}
