package child

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"go.uber.org/goleak"
)

const role = "FAIRLEAD_TEST_CHILD"

func TestMain(m *testing.M) {
	if part := os.Getenv(role); part != "" {
		play(part)
		return
	}
	goleak.VerifyTestMain(m)
}

// play is what a child does.
func play(part string) {
	fmt.Fprintln(os.Stderr, "begins as", part)
	switch part {
	case "echo": // until its input ends
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			fmt.Println(lines.Text())
		}
		fmt.Fprintln(os.Stderr, "input ended")
	case "exits":
		fmt.Fprintln(os.Stderr, strings.Repeat("x", 2*MaxStderr)+" bad flag")
		os.Exit(3)
	case "stubborn": // ends only by KILL
		signal.Ignore(syscall.SIGTERM)
		fmt.Println(`"ready"`)
		for {
			time.Sleep(time.Hour)
		}
	case "polite": // ends by TERM, not by the end of its input
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM)
		fmt.Println(`"ready"`)
		<-stop
		os.Exit(7)
	case "parent": // leaves a grandchild that holds its output
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), role+"=stubborn")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		fmt.Println(cmd.Process.Pid)
		bufio.NewScanner(os.Stdin).Scan()
	case "closes":
		_ = os.Stdout.Close()
		time.Sleep(time.Hour) // ends by TERM
	}
}

// ears hear a Link.
type ears struct {
	lines chan string
	end   chan error
}

func (e *ears) Deliver(raw []byte) { e.lines <- string(raw) }
func (e *ears) Ended(err error)    { e.end <- err }
func (e *ears) Broken(salvage.Peek, []byte, peer.Reason) {
	e.lines <- "broken"
}

func run(t *testing.T, part string, cfg Config) (*Link, *ears) {
	t.Helper()
	cfg.Path = os.Args[0]
	cfg.Env = append(os.Environ(), role+"="+part)
	l, err := Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	e := &ears{make(chan string, 16), make(chan error, 1)}
	l.Start(e)
	t.Cleanup(func() { l.Close(nil); l.Wait() })
	return l, e
}

func message(text string) *peer.Outgoing {
	return &peer.Outgoing{Raw: []byte(text), Kind: jsonrpc.KindNotification}
}

// log is a Config.Stderr.
type log struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func TestConversationAndEndOfInput(t *testing.T) { // W18.1, W18.3, W18.7
	var stderr log
	l, e := run(t, "echo", Config{Stderr: &stderr})
	if err := l.Send(t.Context(), message(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if got := <-e.lines; got != `{"a":1}` {
		t.Error(got)
	}
	l.Close(nil)
	l.Wait()
	var exit *ExitError
	if err := <-e.end; !errors.As(err, &exit) || exit.State == nil || !exit.State.Success() {
		t.Errorf("%v", err)
	}
	if got := stderr.String(); got != "begins as echo\ninput ended\n" {
		t.Errorf("%q", got)
	}
	if err := l.Send(t.Context(), message(`{}`)); peer.ReasonOf(err) != peer.Ended {
		t.Error(err)
	}
}

func TestExitIsInTheError(t *testing.T) {
	l, e := run(t, "exits", Config{})
	err := <-e.end
	var exit *ExitError
	if !errors.As(err, &exit) || exit.State == nil || exit.State.ExitCode() != 3 || len(exit.Stderr) > MaxStderr {
		t.Fatalf("%v", err)
	}
	if !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "bad flag") {
		t.Error(err)
	}
	l.Close(nil)
	l.Wait()
	if err := l.Send(t.Context(), message(`{}`)); !strings.Contains(err.Error(), "exit status 3") {
		t.Error(err)
	}
}

func TestShutdown(t *testing.T) { // W18.7
	for part, tt := range map[string]struct {
		grace time.Duration // for the polite one: to be scheduled in and to end
		want  string
	}{
		"polite":   {3 * time.Second, "exit status 7"},
		"stubborn": {100 * time.Millisecond, "signal: killed"},
	} {
		t.Run(part, func(t *testing.T) {
			l, e := run(t, part, Config{Grace: tt.grace})
			<-e.lines // it is ready for signals
			l.Close(nil)
			l.Wait()
			if err := <-e.end; !strings.Contains(err.Error(), tt.want) {
				t.Error(err)
			}
		})
	}
}

// The whole group ends, and nobody waits for output that a grandchild holds.
func TestGrandchildrenEndToo(t *testing.T) {
	l, e := run(t, "parent", Config{Grace: time.Second})
	pid := <-e.lines
	if pid == `"ready"` {
		pid = <-e.lines
	}
	l.Close(nil)
	l.Wait()
	<-e.end
	var n int
	if _, err := fmt.Sscan(pid, &n); err != nil {
		t.Fatal(pid, err)
	}
	for alive(n) {
		if t.Context().Err() != nil {
			t.Fatal("the grandchild lives")
		}
		time.Sleep(time.Millisecond)
	}
}

// alive: a zombie that nobody reaps is not.
func alive(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(b), ") Z ")
}

func TestOutputThatEndsBeforeTheProcess(t *testing.T) {
	_, e := run(t, "closes", Config{Grace: 50 * time.Millisecond})
	if err := <-e.end; !strings.Contains(err.Error(), "closed its output") {
		t.Error(err)
	}
}

func TestProgramsThatCannotRun(t *testing.T) {
	for name, cfg := range map[string]Config{
		"not there":            {Path: "/nonexistent/program"},
		"no such directory":    {Path: os.Args[0], Dir: "/nonexistent"},
		"not a program at all": {Path: "/etc/hostname"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Start(cfg)
			var f *peer.Failure
			if !errors.As(err, &f) || f.Reason != peer.Unreachable || !f.NotDelivered {
				t.Error(err)
			}
		})
	}
}

func TestCloseWithoutStart(t *testing.T) {
	l, err := Start(Config{Path: os.Args[0], Env: append(os.Environ(), role+"=echo")})
	if err != nil {
		t.Fatal(err)
	}
	l.Close(context.Canceled)
	l.Wait()
	if alive(l.PID()) {
		t.Error("it lives")
	}
}
