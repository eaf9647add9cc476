package host

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/registry"
	"github.com/fairlead-dev/fairlead/hack/internal/archive"
)

// Load imports image archives into the node, except those that it has already.
// All go in one stream, with what they share in it once.
func (h Host) Load(ctx context.Context, files ...string) error {
	r, err := h.Running()
	if err != nil {
		return err
	}
	have, err := h.images(ctx, r)
	if err != nil {
		return err
	}
	start := time.Now()
	var load []archive.Named
	var names []string
	for _, file := range files {
		a, err := archive.Open(file)
		if err != nil {
			return err
		}
		defer a.Close()
		if !slices.ContainsFunc(a.Names, func(n string) bool { return have[n] != a.Digest.String() }) {
			continue
		}
		img, err := a.Image()
		if err != nil {
			return err
		}
		load = append(load, archive.Named{Names: a.Names, Image: img})
		names = append(names, a.Names...)
	}
	if len(load) > 0 {
		if err := h.importImages(ctx, r, load); err != nil {
			return err
		}
	}
	h.phase(fmt.Sprintf("%d of %d images loaded", len(load), len(files)), start)
	for _, n := range names {
		fmt.Fprintf(h.Log, "  %s\n", n)
	}
	return nil
}

func (h Host) importImages(ctx context.Context, r instance.Record, images []archive.Named) error {
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(archive.WriteTo(writer, images...)) }()
	defer reader.Close()
	cmd := h.ctr(ctx, r, "images", "import", "-")
	cmd.Stdin = reader
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("import images: %w: %s", err, out)
	}
	return nil
}

// images maps the names of the node's images to their digests.
func (h Host) images(ctx context.Context, r instance.Record) (map[string]string, error) {
	out, err := h.ctr(ctx, r, "images", "ls").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("list images: %w: %s", err, out)
	}
	return imageTable(string(out)), nil
}

// imageTable reads what `ctr images ls` prints: REF TYPE DIGEST SIZE ….
func imageTable(text string) map[string]string {
	have := map[string]string{}
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 2 && strings.HasPrefix(f[2], "sha256:") {
			have[f[0]] = f[2]
		}
	}
	return have
}

func (h Host) ctr(ctx context.Context, r instance.Record, args ...string) *exec.Cmd {
	base := []string{"--address", r.Root(instance.ContainerdSocket), "--namespace", "k8s.io"}
	return exec.CommandContext(ctx, filepath.Join(r.Tools, "ctr"), append(base, args...)...)
}

// Push puts an archive into the node's loopback registry under ref, whose host
// part may be anything: the node asks its own registry for every pull.
func (h Host) Push(ctx context.Context, file, ref string) error {
	r, err := h.Running()
	if err != nil {
		return err
	}
	a, err := archive.Open(file)
	if err != nil {
		return err
	}
	defer a.Close()
	img, err := a.Image()
	if err != nil {
		return err
	}
	start := time.Now()
	if err := registry.Push(ctx, r.Root(instance.RegistrySocket), ref, img); err != nil {
		return fmt.Errorf("push %s: %w", ref, err)
	}
	h.phase("pushed "+ref, start)
	return nil
}

// importPause packs and loads the sandbox image of every pod: the one of
// `make images`, so that loading all images later changes nothing.
func (h Host) importPause(ctx context.Context) error {
	dir := h.Path("pause")
	cmd := exec.CommandContext(ctx, "go", "run", "./hack/images", "-out", dir, "pause")
	cmd.Dir = h.Repo
	cmd.Env = append(os.Environ(), instance.EnvCache+"="+h.Cache, "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false -trimpath")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("pack the sandbox image: %w: %s", err, out)
	}
	return h.Load(ctx, filepath.Join(dir, "pause.tar"))
}
