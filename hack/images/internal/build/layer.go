package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/fairlead-dev/fairlead/hack/images/internal/spec"
	"github.com/fairlead-dev/fairlead/hack/internal/archive"
)

// layer packs items, or finds the layer packed from the same before.
func (b *Builder) layer(ctx context.Context, items []spec.Item) (v1.Layer, error) {
	c := &collector{builder: b, ctx: ctx, key: sha256.New()}
	for _, it := range items {
		if err := c.add(it); err != nil {
			if it.To == "" {
				return nil, err
			}
			return nil, fmt.Errorf("%s: %w", it.To, err)
		}
	}
	dir := filepath.Join(b.Cache, "layers")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, hex.EncodeToString(c.key.Sum(nil))[:24]+".tar")
	b.used[file] = true
	if _, err := os.Stat(file); err == nil {
		return archive.LayerFile(file)
	}
	tmp, err := os.CreateTemp(dir, ".layer-")
	if err != nil {
		return nil, err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := archive.WriteLayer(tmp, c.entries); err != nil {
		return nil, err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return nil, err
	}
	return archive.LayerFile(file)
}

// keepUnused is how long a layer that no image uses any more is kept: somebody
// may switch between two branches, or another build may just have made it.
const keepUnused = 24 * time.Hour

// prune removes layers that the run of all images did not use.
func (b *Builder) prune() error {
	files, err := filepath.Glob(filepath.Join(b.Cache, "layers", "*"))
	for _, f := range files {
		if st, statErr := os.Stat(f); statErr == nil && !b.used[f] && time.Since(st.ModTime()) > keepUnused {
			err = errors.Join(err, os.Remove(f))
		}
	}
	return err
}

// collector turns items into entries, and hashes what decides their content.
type collector struct {
	builder *Builder
	ctx     context.Context
	key     hash.Hash
	entries []archive.Entry
}

func (c *collector) add(it spec.Item) error {
	// The item as written covers names, modes, content and links.
	text, err := json.Marshal(it)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.key, "%s\n", text)
	e := archive.Entry{Path: it.To, Mode: int64(it.Mode), UID: it.UID, GID: it.GID}
	switch {
	case it.Dir:
		e.Dir = true
		c.entries = append(c.entries, e)
	case it.Link != "":
		e.Link = it.Link
		c.entries = append(c.entries, e)
	case it.Content != nil:
		e.Content = []byte(*it.Content)
		c.entries = append(c.entries, e)
	case it.Go != nil:
		e.Source, err = c.builder.goBinary(c.ctx, *it.Go)
		if err != nil {
			return err
		}
		return c.file(e)
	case it.Copy != "":
		return c.tree(e, filepath.Join(c.builder.Repo, it.Copy), nil)
	case it.NPM != nil:
		return c.npm(e, *it.NPM)
	default:
		return c.programs(it.Programs)
	}
	return nil
}

// file adds a file by its content; executable unless the item says otherwise.
func (c *collector) file(e archive.Entry) error {
	f, err := os.Open(e.Source)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if e.Mode == 0 {
		e.Mode = int64(st.Mode().Perm())
	}
	fmt.Fprintf(c.key, "%s %d %o\n", e.Path, st.Size(), e.Mode)
	if _, err := io.Copy(c.key, f); err != nil {
		return err
	}
	c.entries = append(c.entries, e)
	return nil
}
