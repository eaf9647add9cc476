// Package build turns the images of a spec into archives. Binaries, npm trees
// and layers are cached by what went into them, and an archive is only written
// when its image has changed.
package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/fairlead-dev/fairlead/hack/images/internal/spec"
	"github.com/fairlead-dev/fairlead/hack/internal/archive"
)

// defaultPath of every image, so that a bare command name is found.
const defaultPath = "PATH=/usr/local/bin:/usr/bin:/bin"

// Builder makes images. Its methods are not for concurrent use.
type Builder struct {
	Repo  string // sources
	Cache string // binaries, npm trees, layers
	Out   string // archives
	Log   io.Writer

	layers map[string]v1.Layer // shared ones of this run, by name
	used   map[string]bool     // files of all layers of this run
}

// Build makes the images called only (all when empty). One that fails does not
// keep the others from being made; the errors come back together.
func (b *Builder) Build(ctx context.Context, f spec.File, only ...string) error {
	for _, name := range only {
		if !slices.ContainsFunc(f.Images, func(i spec.Image) bool { return i.Name == name }) {
			return fmt.Errorf("no image is named %q", name)
		}
	}
	if err := os.MkdirAll(b.Out, 0o755); err != nil {
		return err
	}
	b.layers, b.used = map[string]v1.Layer{}, map[string]bool{}
	var errs []error
	for _, i := range f.Images {
		if len(only) > 0 && !slices.Contains(only, i.Name) {
			continue
		}
		start := time.Now()
		file := filepath.Join(b.Out, i.Name+".tar")
		digest, fresh, err := b.image(ctx, f, i, file)
		if err != nil {
			errs = append(errs, fmt.Errorf("image %s: %w", i.Name, err))
			// A stale archive would be loaded as if it were new.
			_ = os.Remove(file)
			continue
		}
		state := "unchanged"
		if fresh {
			state = "written"
		}
		fmt.Fprintf(b.Log, "image %-20s %s  %s in %.1f s\n", i.Name, digest.Hex[:12], state, time.Since(start).Seconds())
	}
	if len(only) == 0 && len(errs) == 0 {
		return b.prune()
	}
	return errors.Join(errs...)
}

func (b *Builder) image(ctx context.Context, f spec.File, i spec.Image, file string) (v1.Hash, bool, error) {
	var layers []v1.Layer
	for _, name := range i.Layers {
		if b.layers[name] == nil {
			l, err := b.layer(ctx, f.Layers[name])
			if err != nil {
				return v1.Hash{}, false, fmt.Errorf("layer %s: %w", name, err)
			}
			b.layers[name] = l
		}
		layers = append(layers, b.layers[name])
	}
	if len(i.Items) > 0 {
		l, err := b.layer(ctx, i.Items)
		if err != nil {
			return v1.Hash{}, false, err
		}
		layers = append(layers, l)
	}
	img, err := archive.NewImage(layers, config(f, i))
	if err != nil {
		return v1.Hash{}, false, err
	}
	digest, err := img.Digest()
	if err != nil {
		return v1.Hash{}, false, err
	}
	names := f.References(i)
	if current(file, names, digest) {
		return digest, false, nil
	}
	return digest, true, archive.Write(file, archive.Named{Names: names, Image: img})
}

// current says whether file already holds that image under those names.
func current(file string, names []string, digest v1.Hash) bool {
	a, err := archive.Open(file)
	if err != nil {
		return false
	}
	defer a.Close()
	return a.Digest == digest && slices.Equal(a.Names, names)
}

func config(f spec.File, i spec.Image) v1.Config {
	env := []string{defaultPath}
	for k, v := range i.Env {
		if k == "PATH" {
			env[0] = "PATH=" + v
			continue
		}
		env = append(env, k+"="+v)
	}
	slices.Sort(env)
	return v1.Config{
		Entrypoint: i.Entrypoint, Cmd: i.Cmd, Env: env, User: i.User,
		WorkingDir: i.Workdir, Labels: f.Labels(i),
	}
}
