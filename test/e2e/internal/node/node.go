// Package node looks at the local cluster's node from the machine it runs on:
// the processes of a pod, its cgroups and mounts, and the components, which it
// can stop and start. None of this exists for a cluster that is elsewhere.
package node

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Node is the local cluster's only node.
type Node struct {
	tool string // bin/cluster
	pid  int    // the node's first process, as this machine sees it
}

// Local returns the node, or leaves the test out when the cluster is not the
// local one.
func Local(t testing.TB, root string) *Node {
	t.Helper()
	if os.Getenv("FAIRLEAD_AUDIT_LOG") == "" {
		t.Skip("looks at the node itself, which only the local cluster (make test-e2e without KUBECONFIG) allows")
	}
	n := &Node{tool: filepath.Join(root, "bin", "cluster")}
	out, err := n.run(t.Context(), "status", "-o", "json")
	if err != nil {
		t.Fatal(err)
	}
	var status struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal(out, &status); err != nil || status.PID == 0 {
		t.Fatalf("no pid of the node in %s: %v", out, err)
	}
	n.pid = status.PID
	return n
}

// Hold stops a component of the node until Release.
func (n *Node) Hold(ctx context.Context, component string) error {
	_, err := n.run(ctx, "hold", component)
	return err
}

// Release starts a component that was held and waits until it is ready.
func (n *Node) Release(ctx context.Context, component string) error {
	_, err := n.run(ctx, "release", component)
	return err
}

func (n *Node) run(ctx context.Context, args ...string) ([]byte, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, n.tool, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %v: %w: %s", n.tool, args, err, errs.String())
	}
	return out.Bytes(), nil
}

// Process is a process of a pod, with its id on this machine.
type Process struct {
	PID, PPID int
	Argv      []string
}

// Processes returns the processes of a pod: of all its containers, or of the
// one whose id is given, without the sandbox's pause.
func Processes(podUID, containerID string) ([]Process, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, err
	}
	var out []Process
	for _, dir := range dirs {
		cgroup, err := os.ReadFile(filepath.Join(dir, "cgroup"))
		if err != nil || !bytes.Contains(cgroup, []byte("pod"+podUID)) || !bytes.Contains(cgroup, []byte(containerID)) {
			continue
		}
		p, ok := read(dir)
		if ok && filepath.Base(p.Argv[0]) != "pause" {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b Process) int { return a.PID - b.PID })
	return out, nil
}

// read returns a process that is still there and no zombie.
func read(dir string) (Process, bool) {
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	argv := strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
	if err != nil || argv[0] == "" {
		return Process{}, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return Process{}, false
	}
	// pid (comm) state ppid …; comm may hold anything but ends at the last ')'.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	pid, err1 := strconv.Atoi(filepath.Base(dir))
	ppid, err2 := strconv.Atoi(fields[1])
	return Process{PID: pid, PPID: ppid, Argv: argv}, err1 == nil && err2 == nil
}

// Kill sends SIGKILL to a process that Processes returned.
func Kill(p Process) error { return syscall.Kill(p.PID, syscall.SIGKILL) }

// Left lists what is left of a pod on the node: processes, cgroups, mounts and
// the kubelet's folder with its volumes and sockets.
func (n *Node) Left(podUID string) ([]string, error) {
	var left []string
	procs, err := Processes(podUID, "")
	if err != nil {
		return nil, err
	}
	for _, p := range procs {
		left = append(left, fmt.Sprintf("process %d %v", p.PID, p.Argv))
	}
	groups, err := cgroups(podUID)
	if err != nil {
		return nil, err
	}
	left = append(left, groups...)
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", n.pid))
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(mounts)) {
		if strings.Contains(line, podUID) {
			left = append(left, "mount "+strings.TrimSpace(line))
		}
	}
	dir := fmt.Sprintf("/proc/%d/root/var/lib/kubelet/pods/%s", n.pid, podUID)
	if _, err := os.Stat(dir); err == nil {
		left = append(left, "folder "+dir)
	}
	return left, nil
}

// cgroups finds the pod's cgroups in every hierarchy.
func cgroups(podUID string) ([]string, error) {
	var found []string
	err := filepath.WalkDir("/sys/fs/cgroup", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			if os.IsNotExist(err) {
				return nil // went away while walking
			}
			return err
		}
		if d.IsDir() && strings.Contains(d.Name(), "pod"+podUID) {
			found = append(found, "cgroup "+path)
			return filepath.SkipDir
		}
		return nil
	})
	return found, err
}
