package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

// sysctls that the kubelet writes for the whole machine when they differ. It gets
// plain files with the values it wants to see instead; the machine's stay.
func sysctls() map[string]string {
	return map[string]string{
		"vm/overcommit_memory":      "1",
		"vm/panic_on_oom":           "0",
		"kernel/panic":              "10",
		"kernel/panic_on_oops":      "1",
		"kernel/keys/root_maxkeys":  "1000000",
		"kernel/keys/root_maxbytes": "25000000",
	}
}

// prepareMounts makes the mount namespace the node's own: nothing mounted here
// reaches the machine, and what components write to /run, /var/lib and /var/log
// lies in memory or in the cluster's folder.
func prepareMounts(i instance.Instance) error {
	// First cut off from the machine, then shared within: volumes that one
	// component mounts must appear to the others.
	for _, flag := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|flag, ""); err != nil {
			return fmt.Errorf("propagation of /: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := unix.Mount("tmpfs", "/run", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=0755"); err != nil {
		return fmt.Errorf("/run: %w", err)
	}
	for _, dir := range []string{"/run/lock", filepath.Dir(instance.ControlSocket)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"varlib": "/var/lib", "varlog": "/var/log"} {
		if err := os.MkdirAll(i.Path(from), 0o755); err != nil {
			return err
		}
		if err := unix.Mount(i.Path(from), to, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", to, err)
		}
		if err := unix.Mount("", to, "", unix.MS_SHARED, ""); err != nil {
			return fmt.Errorf("%s: %w", to, err)
		}
	}
	return coverSysctls()
}

func coverSysctls() error {
	for name, value := range sysctls() {
		target := filepath.Join("/proc/sys", name)
		if _, err := os.Stat(target); err != nil {
			continue // a kernel without it has nothing to protect
		}
		file := filepath.Join("/run/fairlead", "sysctl-"+strings.ReplaceAll(name, "/", "-"))
		if err := os.WriteFile(file, []byte(value+"\n"), 0o644); err != nil {
			return err
		}
		if err := unix.Mount(file, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return nil
}
