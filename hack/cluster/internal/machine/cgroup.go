package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// hierarchy is one mounted control group file system.
type hierarchy struct {
	path string
	v2   bool
}

// cgroupMounts reads a mountinfo file. The same hierarchy mounted twice at
// different places is listed once.
func cgroupMounts(mountinfo string) []hierarchy {
	var out []hierarchy
	seen := map[string]bool{}
	for line := range strings.Lines(mountinfo) {
		left, right, ok := strings.Cut(line, " - ")
		l, r := strings.Fields(left), strings.Fields(right)
		if !ok || len(l) < 5 || len(r) < 1 || (r[0] != "cgroup" && r[0] != "cgroup2") {
			continue
		}
		if dev := l[2]; !seen[dev] {
			seen[dev] = true
			out = append(out, hierarchy{path: l[4], v2: r[0] == "cgroup2"})
		}
	}
	return out
}

func hierarchies() ([]hierarchy, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	out := cgroupMounts(string(data))
	if len(out) == 0 {
		return nil, errors.New("no control group file system is mounted; mount cgroup2 on /sys/fs/cgroup")
	}
	return out, nil
}

// controllers the kubelet insists on, in a unified hierarchy.
func requiredControllers() []string { return []string{"cpu", "cpuset", "memory", "pids"} }

// CreateCgroup makes the group name in every hierarchy. In a mixed set-up
// (version 1 controllers, version 2 only for tracking) only the former count.
func CreateCgroup(name string) error {
	all, err := hierarchies()
	if err != nil {
		return err
	}
	unified := !slices.ContainsFunc(all, func(h hierarchy) bool { return !h.v2 })
	for _, h := range all {
		dir := filepath.Join(h.path, name)
		switch {
		case h.v2 && unified:
			err = createUnified(h.path, dir)
		case h.v2:
			continue
		default:
			err = createV1(h.path, dir)
		}
		if err != nil {
			return fmt.Errorf("control group %s: %w", dir, err)
		}
	}
	return nil
}

// createV1 also fills cpuset, which starts empty and takes no process then.
func createV1(root, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, f := range []string{"cpuset.cpus", "cpuset.mems"} {
		value, err := os.ReadFile(filepath.Join(root, f))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f), value, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// createUnified hands the needed controllers down to the new group and its children.
func createUnified(root, dir string) error {
	have, err := os.ReadFile(filepath.Join(root, "cgroup.controllers"))
	if err != nil {
		return err
	}
	for _, c := range requiredControllers() {
		if !slices.Contains(strings.Fields(string(have)), c) {
			return fmt.Errorf("the machine does not offer the %s controller here (it has: %s)", c, strings.TrimSpace(string(have)))
		}
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	for _, d := range []string{root, dir} {
		for _, c := range requiredControllers() {
			if err := os.WriteFile(filepath.Join(d, "cgroup.subtree_control"), []byte("+"+c), 0o644); err != nil {
				return fmt.Errorf("hand down %s: %w (inside a container: start it with --cgroupns=private and move its processes out of the root group first)", c, err)
			}
		}
	}
	return nil
}

// Cgroups returns every folder of the group that exists, deepest first.
func Cgroups(name string) ([]string, error) {
	all, err := hierarchies()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, h := range all {
		err := filepath.WalkDir(filepath.Join(h.path, name), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // gone meanwhile, or never there
			}
			if err == nil && d.IsDir() {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	return out, nil
}

// RemoveCgroup removes the group everywhere. Its processes may still be on their
// way out, so it tries until it succeeds or patience has passed.
func RemoveCgroup(name string, patience time.Duration) error {
	deadline := time.Now().Add(patience)
	for {
		dirs, err := Cgroups(name)
		if err != nil || len(dirs) == 0 {
			return err
		}
		var last error
		for _, d := range dirs {
			if err := os.Remove(d); err != nil && !errors.Is(err, fs.ErrNotExist) {
				last = err
			}
		}
		if last != nil && time.Now().After(deadline) {
			return last
		}
		if last != nil {
			time.Sleep(50 * time.Millisecond)
		}
	}
}
