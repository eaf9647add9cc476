package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

// Env is what a program needs to find the cluster, as KEY=VALUE.
func (h Host) Env(r instance.Record) []string {
	return []string{
		"KUBECONFIG=" + h.Kubeconfig(),
		instance.EnvName + "=" + h.Name,
		instance.EnvCache + "=" + h.Cache,
		"FAIRLEAD_AUDIT_LOG=" + h.AuditLog(),
		"FAIRLEAD_REGISTRY=" + instance.Registry,
		"CONTAINERD_ADDRESS=" + r.Root(instance.ContainerdSocket),
		"CONTAINERD_NAMESPACE=k8s.io",
		"PATH=" + r.Tools + ":" + os.Getenv("PATH"),
	}
}

// Exec replaces this process by argv inside the node's network. It keeps the
// caller's files, working directory and environment, except for Env and for
// proxy settings, which lead nowhere from there. It returns only on failure.
func (h Host) Exec(argv []string) error {
	r, err := h.Running()
	if err != nil {
		return err
	}
	env := h.guestEnv(r)
	path, err := lookPath(argv[0], r.Tools)
	if err != nil {
		return err
	}
	// The thread that enters is the one that becomes the new program.
	runtime.LockOSThread()
	ns, err := os.Open(fmt.Sprintf("/proc/%d/ns/net", r.PID))
	if err != nil {
		return err
	}
	if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("enter the node's network (as root?): %w", err)
	}
	ns.Close()
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, argv, env))
}

// ExecNode replaces this process by argv inside all of the node's namespaces:
// its processes, mounts, /run and /var/lib.
func (h Host) ExecNode(argv []string) error {
	r, err := h.Running()
	if err != nil {
		return err
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return fmt.Errorf("%w (Debian package util-linux)", err)
	}
	wd, err := os.Getwd()
	if err != nil {
		return err
	}
	args := []string{"nsenter", "-t", fmt.Sprint(r.PID), "-m", "-n", "-p", "-u", "-i", "--wd=" + wd, "--"}
	env := append(h.guestEnv(r), "CONTAINERD_ADDRESS="+instance.ContainerdSocket)
	return fmt.Errorf("run nsenter: %w", syscall.Exec(nsenter, append(args, argv...), env))
}

func (h Host) guestEnv(r instance.Record) []string {
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch strings.ToUpper(name) {
		case "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY":
			return true
		}
		return false
	})
	return overlay(env, h.Env(r))
}

// overlay replaces variables of env by those of over.
func overlay(env, over []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(over, func(o string) bool { return strings.HasPrefix(o, name+"=") })
	})
	return append(out, over...)
}

// lookPath prefers the cluster's own binaries.
func lookPath(name, tools string) (string, error) {
	if !strings.Contains(name, "/") {
		if p, err := exec.LookPath(filepath.Join(tools, name)); err == nil {
			return p, nil
		}
	}
	return exec.LookPath(name)
}
