package archive

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

func layerOf(t *testing.T, entries ...Entry) v1.Layer {
	t.Helper()
	file := filepath.Join(t.TempDir(), "layer.tar")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteLayer(f, entries); err != nil {
		t.Fatal(err)
	}
	f.Close()
	l, err := LayerFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func imageOf(t *testing.T, config v1.Config, layers ...v1.Layer) v1.Image {
	t.Helper()
	img, err := NewImage(layers, config)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

func sample(t *testing.T) v1.Image {
	return imageOf(t, v1.Config{Entrypoint: []string{"/bin/tool"}, User: "1000"},
		layerOf(t, Entry{Path: "/bin/tool", Mode: 0o755, Content: []byte("#!")}, Entry{Path: "/tmp", Dir: true, Mode: 0o1777}),
		layerOf(t, Entry{Path: "/etc/link", Link: "target", UID: 5}))
}

// extract writes a tar's files to a folder.
func extract(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	for tr := tar.NewReader(f); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, h.Name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkBlobs: every blob is named by the hash of its content.
func checkBlobs(t *testing.T, dir string, want int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "blobs/sha256/*"))
	if err != nil || len(files) != want {
		t.Errorf("%d blobs, want %d (%v)", len(files), want, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != filepath.Base(f) {
			t.Errorf("blob %s holds something else", filepath.Base(f))
		}
	}
}

func TestAnArchiveIsAValidLayoutAndADockerArchive(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	img := sample(t)
	if err := Write(file, Named{[]string{"fairlead.dev/tool:dev", "fairlead.dev/tool:next"}, img}); err != nil {
		t.Fatal(err)
	}
	dir := extract(t, file)
	checkBlobs(t, dir, 4) // two layers, config, manifest
	index, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	// Fast: the whole check takes every layer for a compressed one.
	if err := validate.Index(index, validate.Fast); err != nil {
		t.Errorf("OCI layout: %v", err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range manifest.Manifests {
		names = append(names, m.Annotations[annotationContainerd]+" "+m.Annotations[annotationRefName])
	}
	if want := []string{"fairlead.dev/tool:dev dev", "fairlead.dev/tool:next next"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	docker, err := tarball.LoadManifest(func() (io.ReadCloser, error) { return os.Open(file) })
	if err != nil {
		t.Fatal(err)
	}
	if len(docker) != 1 || len(docker[0].RepoTags) != 2 || len(docker[0].Layers) != 2 {
		t.Errorf("Docker's list: %+v", docker)
	}
}

func TestTheSameInputGivesTheSameBytes(t *testing.T) {
	dir := t.TempDir()
	var all [][]byte
	for _, name := range []string{"a", "b"} {
		file := filepath.Join(dir, name)
		if err := Write(file, Named{[]string{"fairlead.dev/tool:dev"}, sample(t)}); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data)
	}
	if !bytes.Equal(all[0], all[1]) {
		t.Error("two archives of one image differ")
	}
	other, _ := imageOf(t, v1.Config{User: "0"}).Digest()
	if same, _ := sample(t).Digest(); same == other {
		t.Error("two images have one digest")
	}
}

func TestAnArchiveReadsBackAsTheImage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "image.tar")
	img := sample(t)
	if err := Write(file, Named{[]string{"fairlead.dev/tool:dev"}, img}); err != nil {
		t.Fatal(err)
	}
	a, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	want, _ := img.Digest()
	if a.Digest != want || !slices.Equal(a.Names, []string{"fairlead.dev/tool:dev"}) {
		t.Errorf("got %s %q", a.Digest, a.Names)
	}
	back, err := a.Image()
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Image(back, validate.Fast); err != nil {
		t.Error(err)
	}
	layers, err := back.Layers()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range layers {
		rc, err := l.Compressed()
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := v1.SHA256(rc)
		rc.Close()
		if name, _ := l.Digest(); err != nil || got != name {
			t.Errorf("layer %s reads as %s (%v)", name, got, err)
		}
	}
	if digest, _ := back.Digest(); digest != want {
		t.Errorf("read back as %s, want %s", digest, want)
	}
}

func TestWhatImagesShareIsInAnArchiveOnce(t *testing.T) {
	shared := layerOf(t, Entry{Path: "/shared", Content: []byte(strings.Repeat("x", 1<<16))})
	var out bytes.Buffer
	err := WriteTo(&out,
		Named{[]string{"fairlead.dev/a:dev"}, imageOf(t, v1.Config{User: "1"}, shared)},
		Named{[]string{"fairlead.dev/b:dev"}, imageOf(t, v1.Config{User: "2"}, shared)})
	if err != nil {
		t.Fatal(err)
	}
	digest, _ := shared.Digest()
	count := 0
	for tr := tar.NewReader(&out); ; {
		h, err := tr.Next()
		if err != nil {
			break
		}
		if h.Name == blobPath(digest) {
			count++
		}
		if h.Name == "index.json" {
			var index v1.IndexManifest
			if err := json.NewDecoder(tr).Decode(&index); err != nil || len(index.Manifests) != 2 {
				t.Errorf("index %+v, %v", index, err)
			}
		}
	}
	if count != 1 {
		t.Errorf("the shared layer is in it %d times", count)
	}
}

func TestLayersAreSortedCompleteAndWithoutTimes(t *testing.T) {
	rc, err := layerOf(t, Entry{Path: "/b/c/file"}, Entry{Path: "/a", Content: []byte("1"), UID: 7, GID: 8}).Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer rc.Close()
	var got []string
	for tr := tar.NewReader(rc); ; {
		h, err := tr.Next()
		if err != nil {
			break
		}
		got = append(got, h.Name)
		if h.ModTime.Unix() != 0 || h.Uname != "" {
			t.Errorf("%s: %v by %q", h.Name, h.ModTime, h.Uname)
		}
		if h.Name == "a" && (h.Uid != 7 || h.Gid != 8 || h.Mode != 0o644) {
			t.Errorf("a: %+v", h)
		}
	}
	if want := []string{"a", "b/", "b/c/", "b/c/file"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLayersRefuseWhatWouldBeAmbiguous(t *testing.T) {
	for name, entries := range map[string][]Entry{
		"a path twice":             {{Path: "/a"}, {Path: "/a"}},
		"a relative path":          {{Path: "a"}},
		"a path that climbs":       {{Path: "/a/../b"}},
		"the root":                 {{Path: "/", Dir: true}},
		"a file below a file":      {{Path: "/a"}, {Path: "/a/b"}},
		"a source that is missing": {{Path: "/a", Source: "/no/such/file"}},
		"a source that is no file": {{Path: "/a", Source: "/dev/null"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := WriteLayer(io.Discard, entries); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestFilesThatAreNoArchiveAreErrors(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"empty": "", "text": strings.Repeat("not a tar ", 200)} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		if a, err := Open(file); err == nil {
			a.Close()
			t.Errorf("%s: no error", name)
		}
	}
}
