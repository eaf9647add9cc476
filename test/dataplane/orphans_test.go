package dataplane

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// bred are the ids of what the workload's tool "bad" has started.
func bred(t *testing.T, c *client) (pids []int) {
	t.Helper()
	for text := range strings.FieldsSeq(c.must(c.call("bad", `{}`)).text()) {
		pid, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if len(pids) != 2 {
		t.Fatalf("started %v", pids)
	}
	return pids
}

func gone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		eventually(t, "process "+strconv.Itoa(pid)+" is gone", func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH })
	}
}

// socketDir is the directory that was made for an agent's socket.
func socketDir(t *testing.T, agent int) string {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", agent))
	if err != nil {
		t.Fatal(err)
	}
	args := strings.Split(string(text), "\x00")
	i := slices.Index(args, "--socket")
	if i < 0 {
		t.Fatalf("the agent was started with %q", args)
	}
	dir := filepath.Dir(args[i+1])
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// No orphan and no zombie, also when the sidecar is killed: on a laptop, where
// nobody else would clean up. P11
func TestNothingOutlivesAKilledSidecarOnALaptop(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(sidecar *process){
		"killed":           func(sidecar *process) { sidecar.kill() },
		"interrupted":      func(sidecar *process) { sidecar.signal(syscall.SIGINT); sidecar.exit() },
		"not waited for":   func(sidecar *process) { sidecar.signal(syscall.SIGINT); sidecar.signal(syscall.SIGINT); sidecar.exit() },
		"its agent killed": func(sidecar *process) { _ = syscall.Kill(children(sidecar)[0], syscall.SIGKILL); sidecar.exit() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sidecar, p := bad(t, "--stdio", "--", binary("badworkload"), "stdio", "leaves-children")
			c := p.legacy("2025-11-25")
			agents := children(sidecar)
			if len(agents) != 1 {
				t.Fatalf("the sidecar has children %v", agents)
			}
			pids := bred(t, c)
			servers := childrenOf(t, agents[0])
			if len(servers) == 0 {
				t.Fatal("the agent has no children")
			}
			dir := socketDir(t, agents[0])
			end(sidecar)
			gone(t, append(append(pids, servers...), agents...))
			eventually(t, dir+" is gone", func() bool { _, err := os.Stat(dir); return os.IsNotExist(err) })
		})
	}
}

// In a pod the agent's container goes on when the sidecar's is killed, with
// nothing left in it, zombies included. P11, O20
func TestNothingOutlivesAKilledSidecar(t *testing.T) {
	t.Parallel()
	s := config.DefaultStdio()
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.agent = launch(t, "mcp-agent", nil, "run", "--socket", p.path("agent.sock"), "--", binary("badworkload"), "stdio", "leaves-children")
	p.startSidecar()
	p.ready()
	var pids []int
	for range 3 {
		pids = append(pids, bred(t, p.legacy("2025-11-25"))...)
	}
	m := p.client(modern)
	pids = append(pids, bred(t, m)...)
	p.sidecar.kill()
	gone(t, pids)
	eventually(t, "the agent has no children", func() bool { return len(children(p.agent)) == 0 })
	p.startSidecar()
	p.ready()
	c := p.legacy("2025-11-25")
	c.must(c.call("ok", `{}`))
}
