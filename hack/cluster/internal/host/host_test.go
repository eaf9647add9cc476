package host

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/machine"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/supervisor"
)

func newHost(t *testing.T) (Host, *bytes.Buffer) {
	t.Helper()
	i, err := instance.New("test", t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	log := &bytes.Buffer{}
	return Host{Instance: i, Log: log}, log
}

func TestOverlayReplacesAndAppends(t *testing.T) {
	got := overlay([]string{"A=1", "PATH=/bin", "AB=2"}, []string{"PATH=/tools:/bin", "A=9", "NEW=x"})
	if want := []string{"AB=2", "PATH=/tools:/bin", "A=9", "NEW=x"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAGuestSeesTheClusterAndNoProxy(t *testing.T) {
	h, _ := newHost(t)
	t.Setenv("HTTPS_PROXY", "http://proxy.example.com")
	t.Setenv("no_proxy", "localhost")
	t.Setenv("KUBECONFIG", "/somewhere/else")
	t.Setenv("KEPT", "yes")
	env := h.guestEnv(instance.Record{PID: 42, Tools: "/tools"})
	for _, want := range []string{"KEPT=yes", "KUBECONFIG=" + h.Kubeconfig(), "CONTAINERD_ADDRESS=/proc/42/root" + instance.ContainerdSocket} {
		if !slices.Contains(env, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, kv := range env {
		if strings.Contains(strings.ToLower(kv), "_proxy=") || kv == "KUBECONFIG=/somewhere/else" {
			t.Errorf("%q is there", kv)
		}
		if p, ok := strings.CutPrefix(kv, "PATH="); ok && !strings.HasPrefix(p, "/tools:") {
			t.Errorf("PATH=%s does not begin with the cluster's binaries", p)
		}
	}
}

func TestTheClustersOwnBinariesComeFirst(t *testing.T) {
	tools := t.TempDir()
	own := filepath.Join(tools, "ls")
	if err := os.WriteFile(own, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := lookPath("ls", tools); err != nil || got != own {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := lookPath("cat", tools); err != nil || strings.HasPrefix(got, tools) {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := lookPath("no-such-program-anywhere", tools); err == nil {
		t.Error("no error")
	}
}

func TestPendingNamesWhatIsNotReadyAndWhy(t *testing.T) {
	got := pending([]supervisor.Status{
		{Name: "etcd", State: supervisor.Ready},
		{Name: "kubelet", State: supervisor.Restarting, Starts: 3, LastExit: "exit status 1"},
		{Name: "kube-apiserver", State: supervisor.Held},
	})
	if len(got) != 1 || !strings.Contains(got[0], "kubelet") || !strings.Contains(got[0], "exit status 1") {
		t.Errorf("got %q", got)
	}
}

func TestImageTable(t *testing.T) {
	got := imageTable(`REF                     TYPE                                       DIGEST           SIZE  PLATFORMS   LABELS
fairlead.dev/a:dev      application/vnd.oci.image.manifest.v1+json sha256:aaaa      1 MiB linux/amd64 -
sha256:bbbb             application/vnd.oci.image.manifest.v1+json sha256:cccc      1 MiB linux/amd64 -
`)
	if len(got) != 2 || got["fairlead.dev/a:dev"] != "sha256:aaaa" {
		t.Errorf("got %v", got)
	}
}

func TestWithoutARunningNodeTheErrorSaysHowToStartOne(t *testing.T) {
	h, _ := newHost(t)
	_, err := h.Running()
	if !errors.Is(err, ErrNotRunning) || !strings.Contains(err.Error(), "make cluster-up") {
		t.Errorf("never started: %v", err)
	}
	if err := os.MkdirAll(h.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.SaveRecord(instance.Record{PID: os.Getpid(), Start: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Running(); !errors.Is(err, ErrNotRunning) {
		t.Errorf("its pid is used by another: %v", err)
	}
}

func TestDownKeepsLogsAndForgetsTheRest(t *testing.T) {
	h, log := newHost(t)
	for _, dir := range []string{"log", "audit", "etcd", "varlib"} {
		if err := os.MkdirAll(h.Path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.SaveRecord(instance.Record{PID: os.Getpid(), Start: 1}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second finds nothing to do
		if err := h.Down(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	entries, _ := os.ReadDir(h.Dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"audit", "log"}) {
		t.Errorf("left: %q", left)
	}
	if !strings.Contains(log.String(), "nothing left") {
		t.Errorf("log: %s", log.String())
	}
}

// guest starts a program that stands for one in a node: the node's network is
// the test's own here, and only the program carries the marker of the cluster.
func guest(t *testing.T, h Host, marked bool) (*exec.Cmd, instance.Record) {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	if marked {
		cmd.Env = append(os.Environ(), "KUBECONFIG="+h.Kubeconfig())
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	r, err := instance.NewRecord(cmd.Process.Pid, "")
	if err != nil {
		t.Fatal(err)
	}
	// The record of a node that ended long ago, whose ids are used again.
	r.Start = 1
	r.Namespaces = map[string]string{"net": r.Namespaces["net"]}
	return cmd, r
}

func TestAfterTheNodesEndOnlyMarkedProcessesAreItsOwn(t *testing.T) {
	h, _ := newHost(t)
	mine, r := guest(t, h, true)
	stranger, _ := guest(t, h, false)
	left, err := h.stop(r)
	if err != nil || len(left) > 0 {
		t.Fatalf("left %v, error %v", left, err)
	}
	_ = mine.Wait()
	if mine.ProcessState.Success() {
		t.Error("the program in the node's network was not ended")
	}
	if s, err := instance.NewRecord(stranger.Process.Pid, ""); err != nil || !s.Alive() {
		t.Error("a process of somebody else was ended: ids of namespaces are reused")
	}
}

func TestProcessesOfALiveNodeNeedNoMarker(t *testing.T) {
	h, _ := newHost(t)
	stranger, r := guest(t, h, false)
	m := membership{record: r, certain: true, marker: "KUBECONFIG=" + h.Kubeconfig(), spare: machine.Ancestors(os.Getpid())}
	in, err := m.processes("net")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(in, func(p machine.Process) bool { return p.PID == stranger.Process.Pid }) {
		t.Error("a process in its network was not found")
	}
	if slices.ContainsFunc(in, func(p machine.Process) bool { return p.PID == os.Getpid() }) {
		t.Error("the caller would be ended")
	}
}
