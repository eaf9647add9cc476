package agent_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

func TestBytesGoBothWaysAndClosingStdinEndsTheChild(t *testing.T) { // P11, W18.7
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("echo stderr:2 exit:7", patient)
		out := r.lines(p)
		io.WriteString(p.Stdin, "hello\n")
		if got := out.next(); got != "hello" {
			t.Errorf("echo: %q", got)
		}
		if p.PID == 0 || !alive(p.PID) {
			t.Errorf("pid %d", p.PID)
		}
		if got := p.Exit(); got.Code != -1 || got.Err != nil {
			t.Errorf("exit of a running process: %+v", got)
		}
		p.Stdin.Close()
		want := agent.Exit{Code: 7, StderrTail: []string{"line 0", "line 1"}}
		if diff := cmp.Diff(want, r.done(p)); diff != "" {
			t.Error(diff)
		}
		if got := out.rest(); got != "" {
			t.Errorf("more output: %q", got)
		}
	})
}

func TestOutputWrittenBeforeTheEndIsStillReadableAfterIt(t *testing.T) { // C11
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("say:answer exit:0")
		r.done(p)
		if got := r.lines(p).rest(); got != "answer\n" {
			t.Errorf("got %q", got)
		}
	})
}

func TestALineLongerThanThePipeGoesThroughWhole(t *testing.T) { // C08
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("line", patient)
		want := strings.Repeat("a", 130_000) + "\n"
		go io.WriteString(p.Stdin, want)
		if got := r.lines(p).rest(); got != want {
			t.Errorf("%d bytes came back, want %d", len(got), len(want))
		}
		if got := r.done(p); got.Code != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestAProcessWhoseOutputNobodyReadsEndsAllTheSame(t *testing.T) { // D7
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("line hang", patient)
		sent := strings.Repeat("a", 300_000) // more than a pipe and a window together
		if _, err := io.WriteString(p.Stdin, sent+"\n"); err != nil {
			t.Fatal(err)
		}
		out := r.lines(p)
		if _, err := out.ReadByte(); err != nil { // it is writing
			t.Fatal(err)
		}
		p.Signal(agent.SIGKILL)
		if got := r.done(p); got.Signal != "KILL" || got.Err != nil {
			t.Errorf("%+v", got)
		}
		if got := out.rest(); !strings.HasPrefix(sent, got) { // what it had written is there
			t.Errorf("%d bytes: %.20q", len(got), got)
		}
	})
}

func TestTheExitIsThatOfTheProcessAfterAllItHasWritten(t *testing.T) { // C11
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("line exit:7", patient)
		want := strings.Repeat("b", 1_000_000) + "\n"
		go io.WriteString(p.Stdin, want)
		if got := r.lines(p).rest(); got != want {
			t.Errorf("%d bytes came back, want %d", len(got), len(want))
		}
		if got := r.done(p); got.Code != 7 || got.Err != nil {
			t.Errorf("%+v", got)
		}
		if n, err := p.Stdin.Write([]byte("x")); err == nil {
			t.Errorf("wrote %d bytes to a process that has ended", n)
		}
	})
}

func TestAProcessIsToldThatItsOutputIsNotWanted(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("say:ready echo exit:0", patient)
		r.lines(p).next()
		p.Stdout.Close()
		r.eventually("its next output kills it", func() bool {
			io.WriteString(p.Stdin, "more\n")
			select {
			case <-p.Done():
				return true
			default:
				return false
			}
		})
		if got := r.done(p); got.Signal != "PIPE" {
			t.Errorf("%+v", got)
		}
	})
}

func TestWritingToAChildThatNeverReadsEndsWithTheDeadline(t *testing.T) { // E4
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("hang", quick)
		p.Stdin.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
		if n, err := p.Stdin.Write(make([]byte, 1<<20)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d, %v", n, err)
		}
		p.Stdout.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
		if _, err := p.Stdout.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read: %v", err)
		}
	})
}

func TestCloseInterruptsBlockedCallsAndIsIdempotent(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("hang", quick)
		blocked := make(chan error, 2)
		go func() { _, err := p.Stdin.Write(make([]byte, 1<<20)); blocked <- err }()
		go func() { _, err := p.Stdout.Read(make([]byte, 1)); blocked <- err }()
		for range 3 {
			if err := p.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		}
		for range 2 {
			if err := <-blocked; !errors.Is(err, os.ErrClosed) {
				t.Errorf("blocked call: %v", err)
			}
		}
		if got := r.done(p); agent.CodeOf(got.Err) != agent.CodeClosed || got.Code != -1 {
			t.Errorf("%+v", got)
		}
		if p.Signal(agent.SIGTERM) != nil || p.Stop() != nil {
			t.Error("a signal to a closed process is an error")
		}
		r.eventually("the child is gone", func() bool { return !alive(p.PID) })
	})
}

func TestTheLadderFromStdinToKill(t *testing.T) { // W18.7
	everyWay(t, func(t *testing.T, w way) {
		const soon, never = 50 * time.Millisecond, time.Minute
		tests := map[string]struct {
			steps       string
			stdin, term time.Duration
			end         func(*agent.Process)
			want        agent.Exit
			output      string
		}{
			"one that heeds the end of stdin ends by itself": {
				"echo exit:3", never, never, stop, agent.Exit{Code: 3}, ""},
			"one that does not is told by TERM": {
				"onterm exit:4", soon, never, stop, agent.Exit{Code: 4}, "armed\nterminated\n"},
			"TERM kills one that handles nothing": {
				"sleep:1h", soon, never, stop, agent.Exit{Code: -1, Signal: "TERM"}, ""},
			"one that ignores TERM is killed": {
				"deaf say:armed hang", soon, soon, stop, agent.Exit{Code: -1, Signal: "KILL"}, "armed\n"},
			"one that is stopped still hears TERM": {
				"say:armed suspend sleep:1h", soon, never, stop, agent.Exit{Code: -1, Signal: "TERM"}, "armed\n"},
			"a signal is passed on at once": {
				"onterm exit:5", never, never, func(p *agent.Process) { p.Signal(agent.SIGTERM) }, agent.Exit{Code: 5}, "armed\nterminated\n"},
		}
		for name, tt := range tests {
			t.Run(name, func(t *testing.T) {
				r := w.rig(t)
				p := r.start(tt.steps, func(req *agent.StartRequest) { req.StdinGrace, req.TermGrace = tt.stdin, tt.term })
				out := r.lines(p)
				said := ""
				if strings.Contains(tt.output, "armed") {
					said = out.next() + "\n"
				}
				tt.end(p)
				got := r.done(p)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Error(diff)
				}
				if got := said + out.rest(); got != tt.output {
					t.Errorf("output %q, want %q", got, tt.output)
				}
			})
		}
	})
}

func stop(p *agent.Process) { p.Stop() }

func TestUnknownSignalsAreRefusedOnOurSide(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("echo")
		if err := p.Signal("SIGTERM"); agent.CodeOf(err) != agent.CodeMalformed {
			t.Errorf("got %v", err)
		}
		p.Stop()
		r.done(p)
	})
}

func TestNothingOfAProcessOutlivesIt(t *testing.T) { // E1, P11, D7
	everyWay(t, func(t *testing.T, w way) {
		for name, spawn := range map[string]string{
			"a child in its own group":                      "member",
			"a child in another session":                    "daemon",
			"a grandchild whose parent has gone":            "double",
			"a child that lost our environment":             "bare",
			"a child that lost it, and one that has not":    "bare daemon member",
			"a hundred children in sessions of their own":   strings.Repeat("daemon ", 100),
			"a child that holds stdin, stdout, and ignores": "member daemon",
		} {
			t.Run(name, func(t *testing.T) {
				r := w.rig(t)
				p := r.start(spawn+" say:ready echo", quick)
				out := r.lines(p)
				// Each word makes one that tells its id; double one more, told by
				// the grandchild's parent and so before or after "ready".
				var pids []int
				ready := false
				for want := len(strings.Fields(spawn)) + strings.Count(spawn, "double"); len(pids) < want || !ready; {
					line := out.next()
					if line == "ready" {
						ready = true
						continue
					}
					pid, err := strconv.Atoi(strings.TrimPrefix(line, "pid "))
					if err != nil {
						t.Fatal(line)
					}
					pids = append(pids, pid)
				}
				p.Stop()
				r.done(p)
				for _, pid := range pids {
					if alive(pid) {
						t.Errorf("process %d lives on after Done", pid)
					}
				}
				if got := out.rest(); got != "" { // nobody holds stdout open
					t.Errorf("more output: %q", got)
				}
			})
		}
	})
}

func TestAProcessThatEndsByItselfLeavesNothingEither(t *testing.T) { // E1
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("daemon double member say:ready exit:0")
		out := r.lines(p)
		first := out.pid()
		r.done(p)
		pids := []int{first}
		for line := range strings.Lines(out.rest()) {
			if n, ok := strings.CutPrefix(line, "pid "); ok {
				pid, _ := strconv.Atoi(strings.TrimSpace(n))
				pids = append(pids, pid)
			}
		}
		if len(pids) < 3 {
			t.Fatalf("only %d children told their id", len(pids))
		}
		for _, pid := range pids {
			if alive(pid) {
				t.Errorf("process %d lives on", pid)
			}
		}
	})
}

func TestOneProcessEndsWithoutTouchingAnother(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		stays := r.start("daemon echo", patient)
		out := r.lines(stays)
		daemon := out.pid()
		for range 5 {
			p := r.start("daemon echo", quick)
			r.lines(p).pid()
			p.Stop()
			r.done(p)
		}
		io.WriteString(stays.Stdin, "still here\n")
		if got := out.next(); got != "still here" || !alive(daemon) {
			t.Errorf("the other process suffered: %q, daemon alive: %v", got, alive(daemon))
		}
		stays.Close()
		r.eventually("it is gone, too", func() bool { return !alive(daemon) && !alive(stays.PID) })
	})
}

func TestTheDeathOfTheSidecarEndsItsProcesses(t *testing.T) { // D7
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		sidecar := exec.Command(os.Args[0], "hold", r.Socket)
		sidecar.Env = append(os.Environ(), "CHILD=daemon echo")
		stdout, err := sidecar.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := sidecar.Start(); err != nil {
			t.Fatal(err)
		}
		out := lines{r, bufio.NewReader(stdout)}
		child, daemon := out.pid(), out.pid()
		sidecar.Process.Kill()
		sidecar.Wait()
		r.eventually("its processes are gone", func() bool { return !alive(child) && !alive(daemon) })
	})
}
