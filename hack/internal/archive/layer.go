// Package archive writes and reads images as one file: an OCI layout in a tar,
// which `ctr images import`, `kind load image-archive` and Docker 25 or newer
// take. Layers are not compressed: the archives stay on this machine. The same
// input gives the same bytes.
package archive

import (
	"archive/tar"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Entry is a file, folder or symbolic link of a layer.
type Entry struct {
	Path    string // absolute, clean
	Mode    int64  // permission bits; 0 means 0755 for folders, 0644 for files
	UID     int
	GID     int
	Dir     bool
	Link    string // target of a symbolic link
	Source  string // file on this machine that holds the content, or
	Content []byte // the content itself
}

// WriteLayer writes entries, sorted, with the folders above them and without
// times or names of this machine. A path given twice is an error.
func WriteLayer(w io.Writer, entries []Entry) error {
	entries, err := complete(entries)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(w)
	for _, e := range entries {
		if err := writeEntry(tw, e); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	return tw.Close()
}

// complete adds missing parent folders and sorts.
func complete(entries []Entry) ([]Entry, error) {
	byPath := map[string]Entry{}
	for _, e := range entries {
		if e.Path != path.Clean(e.Path) || !path.IsAbs(e.Path) || e.Path == "/" {
			return nil, fmt.Errorf("path %q in an image: want an absolute, clean one", e.Path)
		}
		if _, twice := byPath[e.Path]; twice {
			return nil, fmt.Errorf("path %q is in the layer twice", e.Path)
		}
		byPath[e.Path] = e
	}
	for _, e := range entries {
		for dir := path.Dir(e.Path); dir != "/"; dir = path.Dir(dir) {
			if parent, ok := byPath[dir]; ok && !parent.Dir {
				return nil, fmt.Errorf("path %q lies below %q, which is no folder", e.Path, dir)
			} else if !ok {
				byPath[dir] = Entry{Path: dir, Dir: true}
			}
		}
	}
	out := make([]Entry, 0, len(byPath))
	for _, e := range byPath {
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return out, nil
}

func writeEntry(tw *tar.Writer, e Entry) error {
	h := &tar.Header{
		Name: strings.TrimPrefix(e.Path, "/"), Mode: e.Mode, Uid: e.UID, Gid: e.GID,
		ModTime: time.Unix(0, 0), Format: tar.FormatPAX,
	}
	switch {
	case e.Dir:
		h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		h.Mode = cmp.Or(e.Mode, 0o755)
		return tw.WriteHeader(h)
	case e.Link != "":
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.Link, 0o777
		return tw.WriteHeader(h)
	}
	h.Typeflag, h.Mode, h.Size = tar.TypeReg, cmp.Or(e.Mode, 0o644), int64(len(e.Content))
	if e.Source == "" {
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		_, err := tw.Write(e.Content)
		return err
	}
	f, err := os.Open(e.Source)
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if !st.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	h.Size = st.Size()
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err = io.Copy(tw, f)
	return err
}

// fileLayer is an uncompressed layer in a file of its own.
type fileLayer struct {
	path   string
	digest v1.Hash
	size   int64
}

// LayerFile returns the uncompressed layer in the tar file at path, which must
// not change while the layer is used.
func LayerFile(path string) (v1.Layer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	digest, size, err := v1.SHA256(f)
	if err != nil {
		return nil, err
	}
	return fileLayer{path: path, digest: digest, size: size}, nil
}

func (l fileLayer) Digest() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) DiffID() (v1.Hash, error)             { return l.digest, nil }
func (l fileLayer) Size() (int64, error)                 { return l.size, nil }
func (l fileLayer) MediaType() (types.MediaType, error)  { return types.OCIUncompressedLayer, nil }
func (l fileLayer) Compressed() (io.ReadCloser, error)   { return os.Open(l.path) }
func (l fileLayer) Uncompressed() (io.ReadCloser, error) { return os.Open(l.path) }
