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

// Write stores img under name (host/path:tag) in a file that it replaces in one
// step. It also lists the image the way `docker save` does, for older importers.
func Write(file, name string, img v1.Image) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".archive-")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	defer tmp.Close()
	if err := write(tmp, name, img); err != nil {
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

func write(w io.Writer, name string, img v1.Image) error {
	manifest, err := img.RawManifest()
	if err != nil {
		return err
	}
	digest, err := img.Digest()
	if err != nil {
		return err
	}
	blobs, docker, err := contents(name, img)
	if err != nil {
		return err
	}
	blobs = append(blobs, fromBytes(digest, manifest))

	_, tag, _ := strings.Cut(name[strings.LastIndexByte(name, '/')+1:], ":")
	index, err := json.Marshal(v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex,
		Manifests: []v1.Descriptor{{
			MediaType: types.OCIManifestSchema1, Size: int64(len(manifest)), Digest: digest,
			Annotations: map[string]string{annotationContainerd: name, annotationRefName: tag},
		}},
	})
	if err != nil {
		return err
	}
	tw := tar.NewWriter(w)
	for _, f := range []struct {
		name string
		data []byte
	}{{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}, {"index.json", index}, {"manifest.json", docker}} {
		if err := add(tw, f.name, int64(len(f.data)), bytes.NewReader(f.data)); err != nil {
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

// contents returns layers and config, and Docker's list of them.
func contents(name string, img v1.Image) ([]blob, []byte, error) {
	config, err := img.RawConfigFile()
	if err != nil {
		return nil, nil, err
	}
	configHash, err := img.ConfigName()
	if err != nil {
		return nil, nil, err
	}
	layers, err := img.Layers()
	if err != nil {
		return nil, nil, err
	}
	var blobs []blob
	var paths []string
	for _, l := range layers {
		hash, err := l.Digest()
		if err != nil {
			return nil, nil, err
		}
		size, err := l.Size()
		if err != nil {
			return nil, nil, err
		}
		blobs = append(blobs, blob{hash, size, l.Compressed})
		paths = append(paths, blobPath(hash))
	}
	docker, err := json.Marshal([]map[string]any{{"Config": blobPath(configHash), "RepoTags": []string{name}, "Layers": paths}})
	return append(blobs, fromBytes(configHash, config)), docker, err
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
