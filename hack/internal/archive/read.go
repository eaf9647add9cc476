package archive

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Archive is an open file written by Write. Close it when its image is no longer
// used; its methods may be called from several goroutines.
type Archive struct {
	Names  []string // host/path:tag
	Digest v1.Hash  // of the manifest: what an importer stores the image under

	file  *os.File
	parts map[string]section // by name in the tar
}

type section struct{ offset, size int64 }

// Open reads the table of contents, not the layers.
func Open(path string) (*Archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	a := &Archive{file: f, parts: map[string]section{}}
	if err := a.scan(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// Close closes the file.
func (a *Archive) Close() error { return a.file.Close() }

func (a *Archive) scan() error {
	tr := tar.NewReader(a.file)
	for {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		// The reader stands at the start of the content and seeks over it.
		offset, err := a.file.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		a.parts[h.Name] = section{offset, h.Size}
	}
	data, err := a.read("index.json")
	if err != nil {
		return err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(data, &index); err != nil {
		return fmt.Errorf("index.json: %w", err)
	}
	for _, m := range index.Manifests {
		if a.Digest == (v1.Hash{}) {
			a.Digest = m.Digest
		}
		name := m.Annotations[annotationContainerd]
		if name == "" || m.Digest != a.Digest {
			return errors.New("index.json: want one image with names (annotation " + annotationContainerd + ")")
		}
		a.Names = append(a.Names, name)
	}
	if len(a.Names) == 0 {
		return errors.New("index.json lists no image")
	}
	return nil
}

func (a *Archive) open(name string) (*io.SectionReader, error) {
	s, ok := a.parts[name]
	if !ok {
		return nil, fmt.Errorf("%s is not in the archive", name)
	}
	return io.NewSectionReader(a.file, s.offset, s.size), nil
}

func (a *Archive) read(name string) ([]byte, error) {
	r, err := a.open(name)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Image returns the image, which reads from the archive.
func (a *Archive) Image() (v1.Image, error) { return partial.CompressedToImage(&stored{archive: a}) }

// stored implements partial.CompressedImageCore over an archive.
type stored struct{ archive *Archive }

func (s *stored) RawManifest() ([]byte, error) { return s.archive.read(blobPath(s.archive.Digest)) }

func (s *stored) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }

func (s *stored) RawConfigFile() ([]byte, error) {
	m, err := partial.Manifest(s)
	if err != nil {
		return nil, err
	}
	return s.archive.read(blobPath(m.Config.Digest))
}

func (s *stored) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	m, err := partial.Manifest(s)
	if err != nil {
		return nil, err
	}
	for _, d := range m.Layers {
		if d.Digest == h {
			return storedLayer{s.archive, d}, nil
		}
	}
	return nil, fmt.Errorf("no layer %s", h)
}

type storedLayer struct {
	archive *Archive
	desc    v1.Descriptor
}

func (l storedLayer) Digest() (v1.Hash, error)            { return l.desc.Digest, nil }
func (l storedLayer) Size() (int64, error)                { return l.desc.Size, nil }
func (l storedLayer) MediaType() (types.MediaType, error) { return l.desc.MediaType, nil }

func (l storedLayer) Compressed() (io.ReadCloser, error) {
	r, err := l.archive.open(blobPath(l.desc.Digest))
	if err != nil {
		return nil, err
	}
	return io.NopCloser(r), nil
}
