package tools

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// repo makes module files, and puts a `go` into PATH that answers env and list,
// and builds by writing its arguments to the output, or fails when told to.
func repo(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for _, module := range []string{".", "node"} {
		dir := filepath.Join(root, "hack/tools", module)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range []string{"go.mod", "go.sum"} {
			if err := os.WriteFile(filepath.Join(dir, f), []byte(module+f), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	bin := t.TempDir()
	script := `#!/bin/sh
case "$1" in
env) echo "${FAKE_VERSION:-go1.26.8} linux amd64"; exit ;;
list) echo v1.37.2; exit ;;
esac
[ -z "$FAKE_FAIL" ] || { echo compile error; exit 1; }
out=; all="CGO_ENABLED=$CGO_ENABLED $*"
while [ $# -gt 0 ]; do
  case "$1" in
  -o) out=$2; shift ;;
  */*) case "$out" in */) echo "$all" > "$out$(basename "$1")" ;; *) [ "$1" = "$out" ] || echo "$all" > "$out" ;; esac ;;
  esac
  shift
done
`
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	return root
}

func find(t *testing.T, repo, cache string) Set {
	t.Helper()
	s, err := Find(repo, cache)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheFolderFollowsEverythingThatGoesIn(t *testing.T) {
	root, cache := repo(t), t.TempDir()
	seen := []string{find(t, root, cache).Dir}
	if again := find(t, root, cache).Dir; again != seen[0] {
		t.Errorf("the same inputs give %s and %s", seen[0], again)
	}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"a module", func() { _ = os.WriteFile(filepath.Join(root, "hack/tools/go.mod"), []byte("other"), 0o644) }},
		{"a checksum of the node's module", func() { _ = os.WriteFile(filepath.Join(root, "hack/tools/node/go.sum"), []byte("other"), 0o644) }},
		{"the toolchain", func() { t.Setenv("FAKE_VERSION", "go1.27.0") }},
	} {
		change.do()
		dir := find(t, root, cache).Dir
		if slices.Contains(seen, dir) {
			t.Errorf("%s changed and the folder did not", change.name)
		}
		seen = append(seen, dir)
	}
}

func TestBuildMakesWhatIsMissingAndNothingTwice(t *testing.T) {
	s := find(t, repo(t), t.TempDir())
	var log bytes.Buffer
	if err := s.Build(context.Background(), &log, Assets()...); err != nil {
		t.Fatal(err, log.String())
	}
	if left := s.Missing(Assets()...); len(left) > 0 {
		t.Errorf("still missing: %q", left)
	}
	if left := s.Missing(); !slices.Contains(left, "kubelet") || !slices.Contains(left, "runc") {
		t.Errorf("more than the assets was built; missing: %q", left)
	}
	if err := s.Build(context.Background(), &log); err != nil {
		t.Fatal(err, log.String())
	}
	if left := s.Missing(); len(left) > 0 {
		t.Errorf("still missing: %q", left)
	}
	if n := strings.Count(log.String(), "building etcd"); n != 1 {
		t.Errorf("etcd was built %d times", n)
	}
	log.Reset()
	if err := s.Build(context.Background(), &log); err != nil || log.Len() > 0 {
		t.Errorf("the third build did something: %v %s", err, log.String())
	}
}

func TestBinariesAreBuiltTheWayTheyMust(t *testing.T) {
	s := find(t, repo(t), t.TempDir())
	if err := s.Build(context.Background(), &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"kubelet":     {"CGO_ENABLED=0", "component-base/version.gitVersion=v1.37.2", "version.gitMinor=37"},
		"runc":        {"CGO_ENABLED=1", "-tags seccomp"},
		"cni/bridge":  {"CGO_ENABLED=0"},
		"etcd":        {"-s -w"},
		"containerd":  {"CGO_ENABLED=0"},
		"kube-proxy":  {"gitTreeState=clean"},
		"cni/portmap": {"meta/portmap"},
	} {
		data, err := os.ReadFile(filepath.Join(s.Dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, w := range want {
			if !strings.Contains(string(data), w) {
				t.Errorf("%s was built without %q: %s", name, w, data)
			}
		}
	}
}

func TestAFailedBuildLeavesNothingHalf(t *testing.T) {
	s := find(t, repo(t), t.TempDir())
	t.Setenv("FAKE_FAIL", "1")
	var log bytes.Buffer
	err := s.Build(context.Background(), &log, "etcd")
	if err == nil || !strings.Contains(err.Error(), "etcd") || !strings.Contains(log.String(), "compile error") {
		t.Errorf("error %v, log %q: want what failed and why", err, log.String())
	}
	if len(s.Missing("etcd")) != 1 {
		t.Error("a binary was left")
	}
	if entries, _ := filepath.Glob(filepath.Join(filepath.Dir(s.Dir), ".build-*")); len(entries) > 0 {
		t.Errorf("left behind: %q", entries)
	}
}

func TestWhatAKilledBuildLeftIsRemovedByTheNext(t *testing.T) {
	s := find(t, repo(t), t.TempDir())
	left := filepath.Join(filepath.Dir(s.Dir), unfinished+"killed")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := s.Build(context.Background(), &bytes.Buffer{}, "etcd"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("it is still there")
	}
}

func TestPruneKeepsTheCurrentSetAndThoseInUse(t *testing.T) {
	s := find(t, repo(t), t.TempDir())
	root := filepath.Dir(s.Dir)
	for _, name := range []string{filepath.Base(s.Dir), "running", "old"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Prune(filepath.Join(root, "running")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{filepath.Base(s.Dir): true, "running": true, "old": false} {
		if _, err := os.Stat(filepath.Join(root, name)); (err == nil) != want {
			t.Errorf("%s: there %t, want %t", name, err == nil, want)
		}
	}
}

func TestWithoutGoTheErrorSaysWhereToGetIt(t *testing.T) {
	root := repo(t)
	t.Setenv("PATH", t.TempDir())
	if _, err := Find(root, t.TempDir()); err == nil || !strings.Contains(err.Error(), "go.dev/dl") {
		t.Errorf("error %v", err)
	}
}
