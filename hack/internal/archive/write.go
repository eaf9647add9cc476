package archive

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Annotations by which importers find the names of an image in a layout.
const (
	annotationContainerd = "io.containerd.image.name"
	annotationRefName    = "org.opencontainers.image.ref.name"
)

// Named is an image with the names (host/path:tag) that it is stored under.
type Named struct {
	Names []string
	Image v1.Image
}

// Write stores one image in a file that it replaces in one step.
func Write(file string, img Named) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".archive-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := WriteTo(tmp, img); err != nil {
		return err
	}
	if err := tmp.Chmod(0o644); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

type blob struct {
	hash v1.Hash
	size int64
	open func() (io.ReadCloser, error)
}

// dockerImage is an entry of manifest.json, the list in the way of `docker save`
// that importers read which do not know layouts.
type dockerImage struct {
	Config   string
	RepoTags []string
	Layers   []string
}

// WriteTo writes images to one archive; what they share is in it once.
func WriteTo(w io.Writer, images ...Named) error {
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	var docker []dockerImage
	var blobs []blob
	for _, n := range images {
		of, entry, descriptor, err := contents(n)
		if err != nil {
			return err
		}
		blobs, docker = append(blobs, of...), append(docker, entry)
		for _, name := range n.Names {
			_, tag, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
			d := descriptor
			d.Annotations = map[string]string{annotationContainerd: name, annotationRefName: tag}
			index.Manifests = append(index.Manifests, d)
		}
	}
	tw := tar.NewWriter(w)
	for _, f := range []struct {
		name string
		data any
	}{{"oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}}, {"index.json", index}, {"manifest.json", docker}} {
		data, err := json.Marshal(f.data)
		if err != nil {
			return err
		}
		if err := add(tw, f.name, int64(len(data)), bytes.NewReader(data)); err != nil {
			return err
		}
	}
	done := map[v1.Hash]bool{}
	for _, b := range blobs {
		if done[b.hash] {
			continue
		}
		done[b.hash] = true
		if err := addBlob(tw, b); err != nil {
			return err
		}
	}
	return tw.Close()
}

// contents returns layers, config and manifest of an image, how Docker lists
// them, and the manifest's descriptor.
func contents(n Named) ([]blob, dockerImage, v1.Descriptor, error) {
	fail := func(err error) ([]blob, dockerImage, v1.Descriptor, error) {
		return nil, dockerImage{}, v1.Descriptor{}, err
	}
	manifest, err := n.Image.RawManifest()
	if err != nil {
		return fail(err)
	}
	digest, err := n.Image.Digest()
	if err != nil {
		return fail(err)
	}
	config, err := n.Image.RawConfigFile()
	if err != nil {
		return fail(err)
	}
	configHash, err := n.Image.ConfigName()
	if err != nil {
		return fail(err)
	}
	layers, err := n.Image.Layers()
	if err != nil {
		return fail(err)
	}
	entry := dockerImage{Config: blobPath(configHash), RepoTags: n.Names}
	var blobs []blob
	for _, l := range layers {
		hash, err := l.Digest()
		if err != nil {
			return fail(err)
		}
		size, err := l.Size()
		if err != nil {
			return fail(err)
		}
		blobs = append(blobs, blob{hash, size, l.Compressed})
		entry.Layers = append(entry.Layers, blobPath(hash))
	}
	blobs = append(blobs, fromBytes(configHash, config), fromBytes(digest, manifest))
	return blobs, entry, v1.Descriptor{MediaType: types.OCIManifestSchema1, Size: int64(len(manifest)), Digest: digest}, nil
}

func fromBytes(h v1.Hash, data []byte) blob {
	return blob{h, int64(len(data)), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }}
}

func blobPath(h v1.Hash) string { return "blobs/" + h.Algorithm + "/" + h.Hex }

func addBlob(tw *tar.Writer, b blob) error {
	r, err := b.open()
	if err != nil {
		return err
	}
	defer r.Close()
	return add(tw, blobPath(b.hash), b.size, r)
}

func add(tw *tar.Writer, name string, size int64, r io.Reader) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o644, Size: size, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if err := tw.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(tw, r)
	return err
}
