package build

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/hack/images/internal/spec"
	"github.com/fairlead-dev/fairlead/hack/internal/archive"
)

type fixture struct {
	Builder
	log bytes.Buffer
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	root := t.TempDir()
	f := &fixture{}
	f.Builder = Builder{Repo: filepath.Join(root, "repo"), Cache: filepath.Join(root, "cache"), Out: filepath.Join(root, "out"), Log: &f.log}
	f.write(t, "data/kept.txt", "kept")
	f.write(t, "data/deep/er.txt", "deeper")
	f.write(t, "data/left-out/x", "x")
	return f
}

func (f *fixture) write(t *testing.T, name, content string) {
	t.Helper()
	file := filepath.Join(f.Repo, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) build(t *testing.T, text string, only ...string) error {
	t.Helper()
	s, err := spec.Parse([]byte("registry: fairlead.dev\ntag: dev\nsource: https://example.com\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	return f.Build(context.Background(), s, only...)
}

// files lists what the image of an archive holds, and returns its content.
func (f *fixture) files(t *testing.T, name string) (*archive.Archive, map[string]string) {
	t.Helper()
	a, err := archive.Open(filepath.Join(f.Out, name+".tar"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	img, err := a.Image()
	if err != nil {
		t.Fatal(err)
	}
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, l := range layers {
		rc, err := l.Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		for tr := tar.NewReader(rc); ; {
			h, err := tr.Next()
			if err != nil {
				break
			}
			data, _ := io.ReadAll(tr)
			out[h.Name] = string(data) + h.Linkname
		}
		rc.Close()
	}
	return a, out
}

const tree = `
layers:
  base: [{to: /tmp, dir: true, mode: 0o1777}]
images:
- name: a
  names: ["a:dev", "a:next"]
  description: A test.
  layers: [base]
  items:
  - {to: /data, copy: data}
  - {to: /hello, content: "hi"}
  - {to: /bin, link: usr/bin}
  entrypoint: [/hello]
  env: {Z: "1", PATH: /x, A: "2"}
  user: "1000"
`

func TestAnImageHoldsWhatItsEntrySays(t *testing.T) {
	f := newFixture(t)
	if err := f.build(t, tree); err != nil {
		t.Fatal(err)
	}
	a, files := f.files(t, "a")
	for name, want := range map[string]string{"tmp/": "", "data/kept.txt": "kept", "data/deep/er.txt": "deeper", "hello": "hi", "bin": "usr/bin"} {
		if got, ok := files[name]; !ok || got != want {
			t.Errorf("%s: there %t, %q, want %q", name, ok, got, want)
		}
	}
	if !slices.Equal(a.Names, []string{"fairlead.dev/a:dev", "fairlead.dev/a:next"}) {
		t.Errorf("names %q", a.Names)
	}
	img, _ := a.Image()
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if c := config.Config; !slices.Equal(c.Env, []string{"A=2", "PATH=/x", "Z=1"}) || c.User != "1000" || c.Labels["org.opencontainers.image.description"] != "A test." {
		t.Errorf("config %+v", c)
	}
}

func TestAnUnchangedImageIsNotWrittenAgain(t *testing.T) {
	f := newFixture(t)
	if err := f.build(t, tree); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.Out, "a.tar")
	old := time.Unix(1, 0)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if err := f.build(t, tree); err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Stat(file); !st.ModTime().Equal(old) {
		t.Error("it was written again")
	}
	f.write(t, "data/kept.txt", "changed")
	if err := f.build(t, tree); err != nil {
		t.Fatal(err)
	}
	if _, files := f.files(t, "a"); files["data/kept.txt"] != "changed" {
		t.Errorf("the old content is in the image: %q", files["data/kept.txt"])
	}
}

func TestLayersThatNothingUsesAnyMoreGoAfterADay(t *testing.T) {
	f := newFixture(t)
	if err := f.build(t, tree); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(f.Cache, "layers")
	old := time.Now().Add(-keepUnused - time.Minute)
	for _, name := range []string{"old.tar", "fresh.tar"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.Name() != "fresh.tar" {
			if err := os.Chtimes(filepath.Join(dir, e.Name()), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.build(t, tree, "a"); err != nil { // not of all: says nothing about the rest
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.tar")); err != nil {
		t.Error("a run of some images removed it")
	}
	if err := f.build(t, tree); err != nil {
		t.Fatal(err)
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 3 { // two in use, one fresh
		t.Errorf("left: %v", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "old.tar")); err == nil {
		t.Error("old.tar is still there")
	}
}

func TestAFailureStopsNoOtherImageAndLeavesNoStaleArchive(t *testing.T) {
	const two = "images:\n- {name: bad, items: [{to: /x, copy: missing}]}\n- {name: good, items: [{to: /x, content: x}]}\n"
	f := newFixture(t)
	f.write(t, "missing", "not yet")
	if err := f.build(t, two); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(f.Repo, "missing")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(f.Out, "good.tar")); err != nil {
		t.Fatal(err)
	}
	err := f.build(t, two)
	if err == nil || !strings.Contains(err.Error(), "image bad: /x") {
		t.Errorf("error %v, want image and item named", err)
	}
	if _, err := os.Stat(filepath.Join(f.Out, "bad.tar")); err == nil {
		t.Error("the archive of an earlier build would be taken for this one")
	}
	f.files(t, "good")
}

func TestOnlyTheNamedImagesAreMade(t *testing.T) {
	const two = "images:\n- {name: a, items: [{to: /x, content: x}]}\n- {name: b, items: [{to: /x, content: x}]}\n"
	f := newFixture(t)
	if err := f.build(t, two, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(f.Out, "a.tar")); err == nil {
		t.Error("a was made too")
	}
	if err := f.build(t, two, "c"); err == nil {
		t.Error("an unknown name is no error")
	}
}

func TestAGoBinaryIsStaticAndGoesWhereTheEntrySays(t *testing.T) {
	f := newFixture(t)
	f.write(t, "mod/go.mod", "module example.com/mod\n\ngo 1.26.0\n")
	f.write(t, "mod/tool/main.go", "package main\n\nfunc main() {}\n")
	if err := f.build(t, "images: [{name: a, items: [{to: /opt/tool, go: {module: mod, package: ./tool}}]}]"); err != nil {
		t.Fatal(err)
	}
	if _, files := f.files(t, "a"); !strings.HasPrefix(files["opt/tool"], "\x7fELF") {
		t.Error("no program at /opt/tool")
	}
	f.write(t, "mod/tool/main.go", "package main\n\nfunc main() { nonsense }\n")
	err := f.build(t, "images: [{name: a, items: [{to: /opt/tool, go: {module: mod, package: ./tool}}]}]")
	if err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("error %v, want the compiler's", err)
	}
}

func TestProgramsComeWithTheirLibraries(t *testing.T) {
	f := newFixture(t)
	if err := f.build(t, "images: [{name: a, items: [{programs: [ls, cat]}]}]"); err != nil {
		t.Fatal(err)
	}
	_, files := f.files(t, "a")
	if files["usr/bin/ls"] == "" || files["usr/bin/cat"] == "" {
		t.Error("a program is missing")
	}
	libc := false
	for name := range files {
		libc = libc || strings.Contains(name, "libc.so")
	}
	if !libc {
		t.Error("the C library is missing")
	}
}

func TestExcludedNamesStayOutsideTheImage(t *testing.T) {
	f := newFixture(t)
	c := &collector{builder: &f.Builder, ctx: t.Context(), key: sha256.New()}
	if err := c.tree(archive.Entry{Path: "/d"}, filepath.Join(f.Repo, "data"), []string{"left-out"}); err != nil {
		t.Fatal(err)
	}
	for _, e := range c.entries {
		if strings.Contains(e.Path, "left-out") {
			t.Errorf("%s is in it", e.Path)
		}
	}
	if len(c.entries) != 4 { // /d, kept.txt, deep, deep/er.txt
		t.Errorf("%d entries: %+v", len(c.entries), c.entries)
	}
}

func TestParseLDD(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		want []string
		fail bool
	}{
		"libraries and the loader": {
			"\tlinux-vdso.so.1 (0x1)\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x2)\n\t/lib64/ld-linux-x86-64.so.2 (0x3)\n",
			[]string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/ld-linux-x86-64.so.2"}, false,
		},
		"a static binary":           {"\tnot a dynamic executable\n", nil, false},
		"a library that is missing": {"\tlibx.so => not found\n", nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := parseLDD(tc.text)
			if !slices.Equal(got, tc.want) || (err != nil) != tc.fail {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}
