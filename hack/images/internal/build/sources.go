package build

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fairlead-dev/fairlead/hack/images/internal/spec"
	"github.com/fairlead-dev/fairlead/hack/internal/archive"
)

// goBinary builds a static binary at a path of its own in the cache; the Go
// command leaves one that is up to date alone.
func (b *Builder) goBinary(ctx context.Context, g spec.Go) (string, error) {
	sum := sha256.Sum256([]byte(g.Module + " " + g.Package + " " + g.LDFlags))
	out := filepath.Join(b.Cache, "bin", hex.EncodeToString(sum[:6]), filepath.Base(g.Package))
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", strings.TrimSpace("-s -w "+g.LDFlags), "-o", out, g.Package)
	cmd.Dir = filepath.Join(b.Repo, g.Module)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath")
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build %s in %s: %w\n%s", g.Package, g.Module, err, msg)
	}
	return out, nil
}

// npm adds a part of an installed project, with the libraries of a single binary.
func (c *collector) npm(e archive.Entry, n spec.NPM) error {
	dir, err := c.builder.npmProject(c.ctx, filepath.Join(c.builder.Repo, n.Project))
	if err != nil {
		return err
	}
	from := filepath.Join(dir, n.Path)
	st, err := os.Stat(from)
	if err != nil {
		return err
	}
	if st.IsDir() {
		return c.tree(e, from, n.Exclude)
	}
	e.Source = from
	if err := c.file(e); err != nil {
		return err
	}
	return c.libraries(from)
}

// npmProject installs exactly what the lock file says into the cache, once.
func (b *Builder) npmProject(ctx context.Context, project string) (string, error) {
	h := sha256.New()
	files := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		data, err := os.ReadFile(filepath.Join(project, name))
		if err != nil {
			return "", err
		}
		files[name] = data
		h.Write(data)
	}
	dir := filepath.Join(b.Cache, "npm", hex.EncodeToString(h.Sum(nil))[:16])
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if _, err := exec.LookPath("npm"); err != nil {
		return "", errors.New("no npm in PATH: Node 20 or newer brings it, see https://nodejs.org")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(dir), ".npm-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(tmp, name), data, 0o644); err != nil {
			return "", err
		}
	}
	fmt.Fprintf(b.Log, "images: npm ci of %s\n", project)
	cmd := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	cmd.Dir = tmp
	if msg, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci of %s: %w\n%s", project, err, msg)
	}
	if err := os.Rename(tmp, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // not made by another run meanwhile
			return "", err
		}
	}
	return dir, nil
}

// programs adds programs of this machine, with their libraries.
func (c *collector) programs(names []string) error {
	for _, name := range names {
		found, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		source, err := filepath.EvalSymlinks(found)
		if err != nil {
			return err
		}
		if err := c.file(archive.Entry{Path: "/usr/bin/" + name, Source: source, Mode: 0o755}); err != nil {
			return err
		}
		if err := c.libraries(source); err != nil {
			return err
		}
	}
	return nil
}

// libraries adds the loader and the shared libraries of a binary at the paths
// where the loader looks for them; each once per layer.
func (c *collector) libraries(binary string) error {
	out, err := exec.CommandContext(c.ctx, "ldd", binary).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ldd %s: %w: %s", binary, err, bytes.TrimSpace(out))
	}
	libs, err := parseLDD(string(out))
	if err != nil {
		return fmt.Errorf("ldd %s: %w", binary, err)
	}
	for _, lib := range libs {
		if c.has(lib) {
			continue
		}
		source, err := filepath.EvalSymlinks(lib)
		if err != nil {
			return err
		}
		if err := c.file(archive.Entry{Path: lib, Source: source, Mode: 0o755}); err != nil {
			return err
		}
	}
	return nil
}

func (c *collector) has(path string) bool {
	for _, e := range c.entries {
		if e.Path == path {
			return true
		}
	}
	return false
}

// parseLDD returns the paths in lines such as
//
//	libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)
//	/lib64/ld-linux-x86-64.so.2 (0x…)
func parseLDD(text string) ([]string, error) {
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "not found") {
			return nil, errors.New(line)
		}
		if _, path, ok := strings.Cut(line, "=> "); ok {
			line = path
		}
		if path, _, ok := strings.Cut(line, " ("); ok && strings.HasPrefix(path, "/") {
			out = append(out, path)
		}
	}
	return out, nil
}
