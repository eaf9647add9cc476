package agent_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
	_ "github.com/fairlead-dev/fairlead/sidecar/agent/supervisor" // what the binary is made of, for the test cache
	_ "github.com/fairlead-dev/fairlead/sidecar/hook"
	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// The two programs, built once per run.
var agentBinary, childBinary string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hold" {
		os.Exit(hold(os.Args[2]))
	}
	dir, err := os.MkdirTemp("", "agent")
	if err == nil {
		agentBinary, err = program.BuildInto(dir, "sidecar/cmd/mcp-agent")
	}
	if err == nil {
		childBinary, err = program.BuildInto(dir, "sidecar/agent/testdata/child")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.RemoveAll(dir)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		os.RemoveAll(dir)
		os.Exit(code)
	}))
}

// rig is a running agent whose command is the child program.
type rig struct {
	*testing.T
	agent.Dialer
	socket  string // the agent's own; Dialer may have another in front
	cmd     *exec.Cmd
	log     *lockedBuffer
	fds     int // the agent's open descriptors at rest
	quit    bool
	relayed bool // the streams of its processes
}

func newRig(t *testing.T, flags ...string) *rig {
	return newRigOf(t, childBinary, flags...)
}

func newRigOf(t *testing.T, command string, flags ...string) *rig {
	t.Helper()
	r := &rig{T: t, log: &lockedBuffer{}}
	r.Socket = filepath.Join(t.TempDir(), "agent.sock")
	r.socket = r.Socket
	args := append([]string{"run", "--socket", r.Socket}, flags...)
	r.cmd = exec.Command(agentBinary, append(args, "--", command)...)
	r.cmd.Stderr = r.log
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.end)
	r.eventually("the agent answers", func() bool { return r.Check(t.Context()) == nil })
	r.fds = r.descriptors()
	return r
}

// end checks that the agent has forgotten all it did, and ends it.
func (r *rig) end() {
	if r.quit {
		return
	}
	r.eventually("no zombies, no children", func() bool { return len(r.children()) == 0 })
	r.eventually("descriptors as at rest", func() bool { return r.descriptors() <= r.fds })
	r.terminate()
}

// terminate ends the agent as the kubelet does and wants exit status 0.
func (r *rig) terminate() {
	r.Helper()
	r.quit = true
	r.cmd.Process.Signal(syscall.SIGTERM)
	if err := r.wait(); err != nil {
		r.Errorf("the agent ended with %v\n%s", err, r.log)
	}
	if _, err := os.Lstat(r.socket); err == nil {
		r.Error("the agent left its socket")
	}
}

func (r *rig) wait() error {
	timer := time.AfterFunc(time.Minute, func() { r.cmd.Process.Kill() })
	defer timer.Stop()
	return r.cmd.Wait()
}

var keys atomic.Int64

// start starts a child that does steps.
func (r *rig) start(steps string, change ...func(*agent.StartRequest)) *agent.Process {
	r.Helper()
	p, err := r.try(steps, change...)
	if err != nil {
		r.Fatalf("start %q: %v\n%s", steps, err, r.log)
	}
	if p.Relayed != r.relayed {
		r.Errorf("relayed: %v", p.Relayed)
	}
	r.Cleanup(func() { p.Close() })
	return p
}

func (r *rig) try(steps string, change ...func(*agent.StartRequest)) (*agent.Process, error) {
	req := agent.StartRequest{
		Key: fmt.Sprintf("key%05d-%d", keys.Add(1), os.Getpid()),
		Env: map[string]string{"CHILD": steps},
	}
	for _, f := range change {
		f(&req)
	}
	return r.Start(r.Context(), req)
}

// quick shortens the clocks.
func quick(req *agent.StartRequest) {
	req.StdinGrace, req.TermGrace = 50*time.Millisecond, 50*time.Millisecond
}

// patient makes clocks that do not fire within a test.
func patient(req *agent.StartRequest) { req.StdinGrace, req.TermGrace = time.Minute, time.Minute }

// done waits for the end of p.
func (r *rig) done(p *agent.Process) agent.Exit {
	r.Helper()
	select {
	case <-p.Done():
	case <-time.After(30 * time.Second):
		r.Fatalf("the process does not end\n%s", r.log)
	}
	return p.Exit()
}

// eventually polls: what it waits for happens in other processes.
func (r *rig) eventually(what string, cond func() bool) {
	r.Helper()
	for deadline := time.Now().Add(30 * time.Second); !cond(); {
		if time.Now().After(deadline) {
			r.Fatalf("never came true: %s\n%s", what, r.log)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// children are the agent's direct children, zombies included.
func (r *rig) children() []int {
	var pids []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		if fields[1] == strconv.Itoa(r.cmd.Process.Pid) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			pids = append(pids, pid)
		}
	}
	return pids
}

func (r *rig) descriptors() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", r.cmd.Process.Pid))
	return len(entries)
}

// alive tells whether pid is there and no zombie.
func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return !bytes.Contains(raw[bytes.LastIndexByte(raw, ')'):], []byte(" Z "))
}

// lines reads the child's output.
type lines struct {
	r *rig
	*bufio.Reader
}

// lines fails rather than waits for ever for a line that does not come.
func (r *rig) lines(p *agent.Process) lines {
	p.Stdout.SetReadDeadline(time.Now().Add(time.Minute))
	return lines{r, bufio.NewReader(p.Stdout)}
}

func (l lines) next() string {
	l.r.Helper()
	line, err := l.ReadString('\n')
	if err != nil {
		l.r.Fatalf("read a line: %q, %v\n%s", line, err, l.r.log)
	}
	return strings.TrimSuffix(line, "\n")
}

// pid reads a line `pid N`.
func (l lines) pid() int {
	l.r.Helper()
	line := l.next()
	pid, err := strconv.Atoi(strings.TrimPrefix(line, "pid "))
	if err != nil {
		l.r.Fatalf("want a pid, got %q", line)
	}
	return pid
}

// rest reads to the end of the output.
func (l lines) rest() string {
	l.r.Helper()
	all, err := io.ReadAll(l)
	if err != nil {
		l.r.Fatalf("read to the end: %v", err)
	}
	return string(all)
}

// lockedBuffer is the container's log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// hold is another process that starts a child through the agent and holds on
// to it: a sidecar to be killed.
func hold(socket string) int {
	p, err := agent.Dialer{Socket: socket}.Start(context.Background(), agent.StartRequest{
		Key: fmt.Sprintf("held-%d", os.Getpid()),
		Env: map[string]string{"CHILD": os.Getenv("CHILD")},
	})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("pid", p.PID)
	io.Copy(os.Stdout, p.Stdout)
	time.Sleep(time.Hour)
	return 0
}
