package spec

import (
	"slices"
	"strings"
	"testing"
)

func TestTheProjectsFileIsValid(t *testing.T) {
	f, err := Load("../../images.yaml")
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]Image{}
	for _, i := range f.Images {
		byName[i.Name] = i
		for _, ref := range f.References(i) {
			// An import under a short name would not be found under the long one.
			if !strings.HasPrefix(ref, "fairlead.dev/") || strings.Count(ref, ":") != 1 {
				t.Errorf("%s: reference %q", i.Name, ref)
			}
		}
	}
	// O9: images without USER, with a named and with a numeric one.
	for name, user := range map[string]string{"everything": "", "everything-named": "node", "everything-numeric": "1000:1000", "manager": "65532:65532", "sidecar": "65532:65532"} {
		if i, ok := byName[name]; !ok || i.User != user {
			t.Errorf("%s: there %t, user %q, want %q", name, ok, i.User, user)
		}
	}
}

func TestParse(t *testing.T) {
	const head = "registry: fairlead.dev\ntag: dev\n"
	for name, tc := range map[string]struct{ text, want string }{
		"an image with a file":             {head + "images: [{name: a, items: [{to: /a, content: x}]}]", ""},
		"a mode in base eight":             {head + "images: [{name: a, items: [{to: /a, content: x, mode: 0o755}]}]", ""},
		"a mode that is none":              {head + "images: [{name: a, items: [{to: /a, content: x, mode: 99999}]}]", "mode"},
		"a field that does not exist":      {head + "image: []", "image"},
		"no registry":                      {"tag: dev", "registry"},
		"two sources in an item":           {head + "images: [{name: a, items: [{to: /a, content: x, link: y}]}]", "2 sources"},
		"no source in an item":             {head + "images: [{name: a, items: [{to: /a}]}]", "0 sources"},
		"a relative target":                {head + "images: [{name: a, items: [{to: a, content: x}]}]", "absolute"},
		"programs with a target":           {head + "images: [{name: a, items: [{to: /a, programs: [ls]}]}]", "none with programs"},
		"a layer that is not declared":     {head + "images: [{name: a, layers: [b]}]", `no layer is named "b"`},
		"an image of nothing":              {head + "images: [{name: a}]", "neither layers nor items"},
		"a name that cannot be a file":     {head + "images: [{name: A/b, items: [{to: /a, content: x}]}]", "want a name"},
		"a name twice":                     {head + "images: [{name: a, items: [{to: /a, dir: true}]}, {name: a, items: [{to: /a, dir: true}]}]", "no other has"},
		"a bad item in a layer nobody has": {head + "layers: {l: [{to: /a}]}", "layer l"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Parse([]byte(tc.text))
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one about %q", err, tc.want)
			}
		})
	}
}

func TestNamesDefaultToTheTag(t *testing.T) {
	f := File{Registry: "fairlead.dev", Tag: "dev"}
	if got := f.References(Image{Name: "a"}); !slices.Equal(got, []string{"fairlead.dev/a:dev"}) {
		t.Errorf("got %q", got)
	}
	if got := f.References(Image{Name: "a", Names: []string{"a:1", "b:2"}}); !slices.Equal(got, []string{"fairlead.dev/a:1", "fairlead.dev/b:2"}) {
		t.Errorf("got %q", got)
	}
}
