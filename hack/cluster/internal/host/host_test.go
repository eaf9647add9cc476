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

func TestLeftoversFindsAProcessInANamespaceOfTheNode(t *testing.T) {
	h, _ := newHost(t)
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	// It shares the test's own namespaces, which stand for the node's here.
	r, err := instance.NewRecord(cmd.Process.Pid, "")
	if err != nil {
		t.Fatal(err)
	}
	left, err := h.Leftovers(instance.Record{Namespaces: map[string]string{"uts": r.Namespaces["uts"]}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(left, func(e error) bool { return strings.Contains(e.Error(), "sleep 600") }) {
		t.Errorf("got %v", left)
	}
}
