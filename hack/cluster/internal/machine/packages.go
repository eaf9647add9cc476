// Package machine is what a cluster needs of, and does to, the machine below
// it: programs and kernel features that must be there, control groups, and the
// proof that nothing is left behind. It knows nothing of Kubernetes.
package machine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// EnvNoInstall, when set to anything, forbids installing Debian packages.
const EnvNoInstall = "FAIRLEAD_NO_INSTALL"

// need is a Debian package and how to see that what it brings is there.
type need struct {
	pkg  string
	have func() bool
}

func program(names ...string) func() bool {
	return func() bool {
		for _, n := range names {
			if _, err := exec.LookPath(n); err != nil {
				return false
			}
		}
		return true
	}
}

// Needs of a run: what kube-proxy and the CNI plugins call, and ours.
func runNeeds() []need {
	return []need{
		{"iproute2", program("ip")},
		{"nftables", program("nft")},
		{"iptables", program("iptables")},
		{"conntrack", program("conntrack")},
	}
}

// Needs of a build: runc is the one part in C.
func buildNeeds() []need {
	return []need{
		{"gcc", program("gcc")},
		{"pkg-config", program("pkg-config")},
		{"libseccomp-dev", func() bool { return exec.Command("pkg-config", "--exists", "libseccomp").Run() == nil }},
		{"libc6-dev", func() bool { _, err := os.Stat("/usr/include/stdlib.h"); return err == nil }},
	}
}

// EnsureRun installs what a running cluster needs and lacks.
func EnsureRun(ctx context.Context, log io.Writer) error { return ensure(ctx, log, runNeeds()) }

// EnsureBuild installs what building the tools needs and lacks.
func EnsureBuild(ctx context.Context, log io.Writer) error { return ensure(ctx, log, buildNeeds()) }

func ensure(ctx context.Context, log io.Writer, needs []need) error {
	missing := missingPackages(needs)
	if len(missing) == 0 {
		return nil
	}
	command := "apt-get install -y --no-install-recommends " + strings.Join(missing, " ")
	if why := cannotInstall(); why != "" {
		return fmt.Errorf("missing on this machine: %s\n%s; as root run:\n\n    %s\n\nor install what brings the same elsewhere than on Debian",
			strings.Join(missing, ", "), why, command)
	}
	fmt.Fprintf(log, "machine: %s\n", command)
	if err := apt(ctx, log, append([]string{"install", "-y", "--no-install-recommends"}, missing...)...); err != nil {
		// Lists may be old, or absent in a fresh image.
		if err := apt(ctx, log, "update"); err != nil {
			return fmt.Errorf("apt-get update: %w", err)
		}
		if err := apt(ctx, log, append([]string{"install", "-y", "--no-install-recommends"}, missing...)...); err != nil {
			return fmt.Errorf("%s: %w", command, err)
		}
	}
	if still := missingPackages(needs); len(still) > 0 {
		return fmt.Errorf("installed, but still not usable: %s", strings.Join(still, ", "))
	}
	return nil
}

func missingPackages(needs []need) []string {
	var out []string
	for _, n := range needs {
		if !n.have() {
			out = append(out, n.pkg)
		}
	}
	return out
}

func cannotInstall() string {
	switch {
	case os.Getenv(EnvNoInstall) != "":
		return EnvNoInstall + " is set, so nothing was installed"
	case os.Geteuid() != 0:
		return "only root can install packages"
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return "this machine has no apt-get"
	}
	return ""
}

func apt(ctx context.Context, log io.Writer, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", append([]string{"-q"}, args...)...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	out, err := cmd.CombinedOutput()
	if err != nil {
		_, _ = log.Write(out)
	}
	return err
}

// CheckRoot says what a node needs root for, when the caller is not.
func CheckRoot() error {
	if os.Geteuid() != 0 {
		return errors.New("not root: the node makes namespaces, mounts and control groups; run as root (sudo -E env PATH=$PATH make …)")
	}
	return nil
}

// CheckKernel reports, all at once, what a node cannot run without.
func CheckKernel() error {
	var errs []error
	if err := CheckRoot(); err != nil {
		errs = append(errs, err)
	}
	for _, dev := range []string{"/dev/kmsg", "/dev/null"} {
		if _, err := os.Stat(dev); err != nil {
			errs = append(errs, fmt.Errorf("%w: the kubelet reads it; in a container add it (docker run --privileged does)", err))
		}
	}
	filesystems, err := os.ReadFile("/proc/filesystems")
	if err != nil {
		errs = append(errs, err)
	} else if !hasFilesystem(string(filesystems), "overlay") && exec.Command("modprobe", "overlay").Run() != nil {
		errs = append(errs, errors.New("the kernel has no overlay file system and `modprobe overlay` fails"))
	}
	// Service traffic between pods on one bridge passes netfilter only with this.
	if _, err := os.Stat("/proc/sys/net/bridge/bridge-nf-call-iptables"); err != nil && exec.Command("modprobe", "br_netfilter").Run() != nil {
		errs = append(errs, errors.New("the kernel has no br_netfilter and `modprobe br_netfilter` fails"))
	}
	return errors.Join(errs...)
}

func hasFilesystem(list, name string) bool {
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 0 && f[len(f)-1] == name {
			return true
		}
	}
	return false
}
