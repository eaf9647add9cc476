package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Build makes what is missing of want (of everything when empty), telling log
// what it does. Only one build per cache runs at a time; others wait.
func (s Set) Build(ctx context.Context, log io.Writer, want ...string) error {
	if len(s.Missing(want...)) == 0 {
		return nil
	}
	unlock, err := s.lock(log)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.removeUnfinished(); err != nil {
		return err
	}
	for _, g := range groups() {
		if len(want) > 0 && !slices.ContainsFunc(g.outputs, func(o string) bool { return slices.Contains(want, o) }) {
			continue
		}
		if len(s.Missing(g.outputs...)) == 0 {
			continue
		}
		if err := s.buildGroup(ctx, log, g); err != nil {
			return fmt.Errorf("build %s: %w", strings.Join(g.outputs, ", "), err)
		}
	}
	return nil
}

func (s Set) lock(log io.Writer) (func(), error) {
	if err := os.MkdirAll(s.root, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(s.root, ".lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(log, "tools: another build runs, waiting for it")
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			f.Close()
			return nil, err
		}
	}
	return func() { f.Close() }, nil
}

// removeUnfinished removes what a killed build left. The lock must be held.
func (s Set) removeUnfinished() error {
	left, err := filepath.Glob(filepath.Join(s.root, unfinished+"*"))
	for _, dir := range left {
		err = errors.Join(err, os.RemoveAll(dir))
	}
	return err
}

// unfinished begins the names of folders that builds write to.
const unfinished = ".build-"

func (s Set) buildGroup(ctx context.Context, log io.Writer, g group) error {
	module := filepath.Join(s.repo, "hack", "tools", g.module)
	ldflags := "-s -w"
	if g.ldflags == stamped {
		stamp, err := kubernetesStamp(ctx, module)
		if err != nil {
			return err
		}
		ldflags += stamp
	}
	// Built beside the set and renamed into it: what is in the set is whole.
	tmp, err := os.MkdirTemp(s.root, unfinished)
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	out := tmp + "/"
	if len(g.outputs) == 1 {
		out = filepath.Join(tmp, filepath.Base(g.outputs[0])) // a package's name need not be the program's
	}
	args := []string{"build", "-ldflags", ldflags, "-o", out}
	if g.tags != "" {
		args = append(args, "-tags", g.tags)
	}
	fmt.Fprintf(log, "tools: building %s\n", strings.Join(g.outputs, ", "))
	start := time.Now()
	cmd := exec.CommandContext(ctx, "go", append(args, g.packages...)...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = module, log, log
	cmd.Env = append(os.Environ(), "GOFLAGS="+flags, "CGO_ENABLED="+map[bool]string{true: "1", false: "0"}[g.cgo])
	if err := cmd.Run(); err != nil {
		return err
	}
	for _, o := range g.outputs {
		to := filepath.Join(s.Dir, o)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(tmp, filepath.Base(o)), to); err != nil {
			return err
		}
	}
	fmt.Fprintf(log, "tools: %s in %.0f s\n", strings.Join(g.outputs, ", "), time.Since(start).Seconds())
	return nil
}

func kubernetesStamp(ctx context.Context, module string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	cmd.Dir = module
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("version of k8s.io/kubernetes: %w", err)
	}
	version := strings.TrimSpace(string(out))
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 3 {
		return "", fmt.Errorf("version of k8s.io/kubernetes: %q", version)
	}
	var b strings.Builder
	for _, p := range []string{"k8s.io/client-go/pkg/version", "k8s.io/component-base/version"} {
		for _, kv := range [][2]string{
			{"gitVersion", version},
			{"gitMajor", parts[0]},
			{"gitMinor", parts[1]},
			{"gitTreeState", "clean"},
			{"gitCommit", strings.Repeat("0", 40)},
			{"buildDate", "1970-01-01T00:00:00Z"},
		} {
			fmt.Fprintf(&b, " -X %s.%s=%s", p, kv[0], kv[1])
		}
	}
	return b.String(), nil
}
