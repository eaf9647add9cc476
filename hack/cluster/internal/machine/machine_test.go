package machine

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	v1Mounts = `30 24 0:26 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
31 30 0:27 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
32 30 0:28 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
33 30 0:29 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
34 24 0:28 / /mnt/memory-again rw,relatime - cgroup cgroup rw,memory
`
	v2Mounts = `35 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate
36 24 0:31 / /src/.cache/cluster/dev/var\040lib rw - ext4 /dev/vda rw
37 24 0:31 / /src/.cache/cluster/dev2 rw - ext4 /dev/vda rw
`
)

func TestCgroupMounts(t *testing.T) {
	for name, tc := range map[string]struct {
		mountinfo string
		want      []hierarchy
	}{
		"version 1 with version 2 for tracking, one mounted twice": {v1Mounts, []hierarchy{
			{"/sys/fs/cgroup/cpu", false}, {"/sys/fs/cgroup/memory", false}, {"/sys/fs/cgroup/unified", true},
		}},
		"version 2":       {v2Mounts, []hierarchy{{"/sys/fs/cgroup", true}}},
		"none":            {"", nil},
		"half a line":     {"31 30 0:27 / /sys/fs", nil},
		"a line cut at -": {"31 30 0:27 / /sys/fs/cgroup rw - ", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cgroupMounts(tc.mountinfo); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

func TestMountsBelowAFolder(t *testing.T) {
	got := mountsBelow(v2Mounts, "/src/.cache/cluster/dev")
	if want := []string{"/src/.cache/cluster/dev/var lib"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: not that of a folder with a longer name", got, want)
	}
}

func fill(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestAVersion1GroupGetsTheProcessorsOfItsParent(t *testing.T) {
	root := t.TempDir()
	fill(t, root, map[string]string{"cpuset.cpus": "0-1\n", "cpuset.mems": "0\n"})
	dir := filepath.Join(root, "fairlead-test")
	for range 2 { // repeating it is harmless
		if err := createV1(root, dir); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, dir+"/cpuset.cpus") + read(t, dir+"/cpuset.mems"); got != "0-1\n0\n" {
		t.Errorf("got %q", got)
	}
}

func TestAVersion2GroupIsHandedItsControllers(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "fairlead-test")
	fill(t, root, map[string]string{
		"cgroup.controllers": "cpuset cpu io memory pids\n", "cgroup.subtree_control": "", "fairlead-test/cgroup.subtree_control": "",
	})
	if err := createUnified(root, dir); err != nil {
		t.Fatal(err)
	}
	// A plain file keeps only the last write; in the kernel they add up.
	last := "+" + requiredControllers()[len(requiredControllers())-1]
	for _, f := range []string{root, dir} {
		if got := read(t, f+"/cgroup.subtree_control"); got != last {
			t.Errorf("%s: %q, want %q", f, got, last)
		}
	}
}

func TestAMissingControllerIsNamed(t *testing.T) {
	root := t.TempDir()
	fill(t, root, map[string]string{"cgroup.controllers": "cpu memory pids\n"})
	err := createUnified(root, filepath.Join(root, "x"))
	if err == nil || !strings.Contains(err.Error(), "cpuset") {
		t.Errorf("error %v, want one that names cpuset", err)
	}
}

func TestMissingPackagesAreNamedWithTheCommandThatBringsThem(t *testing.T) {
	t.Setenv(EnvNoInstall, "1")
	never := func() bool { return false }
	var log bytes.Buffer
	err := ensure(context.Background(), &log, []need{
		{"iproute2", func() bool { return true }}, {"nftables", never}, {"conntrack", never},
	})
	if err == nil || !strings.Contains(err.Error(), "apt-get install -y --no-install-recommends nftables conntrack") {
		t.Errorf("error %v, want the command for what is missing and nothing else", err)
	}
	if log.Len() > 0 {
		t.Errorf("something was done although %s is set: %s", EnvNoInstall, log.String())
	}
}

func TestNothingIsAskedForWhenAllIsThere(t *testing.T) {
	t.Setenv(EnvNoInstall, "1")
	if err := ensure(context.Background(), &bytes.Buffer{}, []need{{"coreutils", program("ls", "cat")}}); err != nil {
		t.Error(err)
	}
	if program("ls", "no-such-program-anywhere")() {
		t.Error("a program that does not exist was found")
	}
}

func TestFilesystemsOfTheKernel(t *testing.T) {
	list := "nodev\tsysfs\nnodev\toverlay\n\text4\n"
	for name, want := range map[string]bool{"overlay": true, "ext4": true, "over": false, "nodev": false} {
		if got := hasFilesystem(list, name); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
}

func TestTheCallersOwnProcessIsFoundAndSpared(t *testing.T) {
	id, err := os.Readlink("/proc/self/ns/uts")
	if err != nil {
		t.Fatal(err)
	}
	processes, err := ProcessesIn(map[string]string{"uts": id})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(processes, func(p Process) bool { return p.PID == os.Getpid() && p.Kind == "uts" }) {
		t.Errorf("this process %d is not in its own namespace", os.Getpid())
	}
	if got := Ancestors(os.Getpid()); !slices.Contains(got, os.Getpid()) || !slices.Contains(got, os.Getppid()) {
		t.Errorf("ancestors %v lack %d or its parent", got, os.Getpid())
	}
}

func TestInterfacesIncludeLoopback(t *testing.T) {
	names, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(names, "lo") {
		t.Errorf("got %q", names)
	}
}
