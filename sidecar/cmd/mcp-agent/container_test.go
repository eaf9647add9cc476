package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

// In a container the agent is PID 1 of its own namespace, as an unprivileged
// user, on a read-only root that holds nothing but itself and the workload: no
// shell, no loader, no /tmp.
func TestTheAgentAsPIDOneOfABareContainer(t *testing.T) { // D7, O9, C40
	root, run := t.TempDir(), t.TempDir()
	for _, dir := range []string{"bin", "proc", "run"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, from := range map[string]string{"mcp-agent": agentBinary, "child": childBinary} {
		if err := os.Link(from, filepath.Join(root, "bin", name)); err != nil {
			text, rerr := os.ReadFile(from) // another file system
			if rerr != nil || os.WriteFile(filepath.Join(root, "bin", name), text, 0o755) != nil {
				t.Fatal(err)
			}
		}
	}
	for dir, mode := range map[string]os.FileMode{run: 0o777, filepath.Dir(run): 0o755, root: 0o755} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	cmd := exec.Command(os.Args[0], "container", root, run,
		"/bin/mcp-agent", "run", "--socket", "/run/agent.sock", "--termination", "1s", "--", "/bin/child")
	cmd.Stderr = &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
	if os.Getuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("no namespaces: %v (run as root, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1)", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer cmd.Process.Kill()

	d := agent.Dialer{Socket: filepath.Join(run, "agent.sock")}
	poll(t, "the agent answers", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("ended: %v\n%s", err, &log)
		default:
		}
		return d.Check(t.Context()) == nil
	})
	p := start(t, d, "daemon double bare member say:ready echo")
	out := bufio.NewReader(p.Stdout)
	for {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("%v\n%s", err, &log)
		}
		if line == "ready\n" {
			break
		}
	}
	fmt.Fprintln(p.Stdin, "hello")
	line, err := out.ReadString('\n') // or the pid of the double's daemon
	for err == nil && line != "hello\n" {
		line, err = out.ReadString('\n')
	}
	if err != nil {
		t.Fatal(err)
	}
	if p.PID < 2 || p.PID > 50 {
		t.Errorf("pid %d is not one of the container's", p.PID)
	}
	p.Stop()
	<-p.Done()
	if got := p.Exit(); got.Code != 0 || got.Err != nil {
		t.Errorf("%+v", got)
	}
	poll(t, "PID 1 has no children, zombies included", func() bool { return childrenOf(t, cmd.Process.Pid) == 0 })

	// SIGTERM has no default action for PID 1: it must be handled.
	last := start(t, d, "deaf hang")
	cmd.Process.Signal(syscall.SIGTERM)
	<-last.Done()
	if err := <-ended; err != nil {
		t.Errorf("exit: %v\n%s", err, &log)
	}
}

func start(t *testing.T, d agent.Dialer, steps string) *agent.Process {
	t.Helper()
	p, err := d.Start(context.Background(), agent.StartRequest{
		Key:        "k" + strconv.FormatInt(time.Now().UnixNano(), 36),
		Env:        map[string]string{"CHILD": steps},
		StdinGrace: time.Minute, TermGrace: time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func poll(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never came true: %s", what)
		}
	}
}

func childrenOf(t *testing.T, pid int) int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, name := range stats {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fields := strings.Fields(string(raw[bytes.LastIndexByte(raw, ')')+1:]))
		if fields[1] == strconv.Itoa(pid) {
			n++
		}
	}
	return n
}

// enterContainer turns this process, alone in new namespaces, into argv[1:]
// on the read-only root, with the folder argv[0] as its /run. It returns only
// if that fails.
func enterContainer(root string, argv []string) error {
	run, argv := argv[0], argv[1:]
	mount := func(source, target, kind string, flags uintptr) error {
		if err := unix.Mount(source, target, kind, flags, ""); err != nil {
			return fmt.Errorf("mount %s on %s: %w", source, target, err)
		}
		return nil
	}
	err := errors.Join(
		mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE),
		mount(root, root, "", unix.MS_BIND),
		mount("none", root, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY),
		mount("proc", filepath.Join(root, "proc"), "proc", 0),
		mount(run, filepath.Join(root, "run"), "", unix.MS_BIND),
		unix.Chroot(root),
		unix.Chdir("/"),
	)
	if err == nil && unix.Getuid() == 0 {
		if setgroups := unix.Setgroups(nil); setgroups == nil { // refused in a user namespace
			err = errors.Join(unix.Setresgid(10001, 10001, 10001), unix.Setresuid(10001, 10001, 10001))
		}
	}
	if err == nil {
		err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	}
	if err != nil {
		return err
	}
	if _, err := os.Create("/bin/x"); err == nil {
		return io.ErrNoProgress // the root is writable: the test would prove nothing
	}
	return unix.Exec(argv[0], argv, []string{"HOME=/"})
}
