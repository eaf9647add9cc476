// Package spec is the format of images.yaml: what images there are and what goes
// into them. It reads and checks; it builds nothing.
package spec

import (
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// File is a whole images.yaml.
type File struct {
	Registry string            `json:"registry"` // first part of every image name
	Tag      string            `json:"tag"`
	Source   string            `json:"source"` // URL, for the labels
	Layers   map[string][]Item `json:"layers"`
	Images   []Image           `json:"images"`
}

// Image is one entry.
type Image struct {
	Name        string            `json:"name"` // also of the archive
	Names       []string          `json:"names,omitempty"`
	Description string            `json:"description"`
	Licenses    string            `json:"licenses,omitempty"` // SPDX, of what is ours
	Layers      []string          `json:"layers,omitempty"`   // shared ones, below
	Items       []Item            `json:"items,omitempty"`    // its own layer, on top
	Entrypoint  []string          `json:"entrypoint,omitempty"`
	Cmd         []string          `json:"cmd,omitempty"`
	Env         map[string]string `json:"env,omitempty"`
	User        string            `json:"user,omitempty"`
	Workdir     string            `json:"workdir,omitempty"`
}

// Item puts something into a layer; see the head of images.yaml.
type Item struct {
	To       string   `json:"to,omitempty"`
	Go       *Go      `json:"go,omitempty"`
	NPM      *NPM     `json:"npm,omitempty"`
	Copy     string   `json:"copy,omitempty"`
	Content  *string  `json:"content,omitempty"`
	Link     string   `json:"link,omitempty"`
	Dir      bool     `json:"dir,omitempty"`
	Programs []string `json:"programs,omitempty"`
	Mode     Mode     `json:"mode,omitempty"`
	UID      int      `json:"uid,omitempty"`
	GID      int      `json:"gid,omitempty"`
}

// Go is a main package.
type Go struct {
	Module  string `json:"module"`
	Package string `json:"package"`
	LDFlags string `json:"ldflags,omitempty"`
}

// NPM is a part of what `npm ci` makes of a project with a lock file.
type NPM struct {
	Project string   `json:"project"`
	Path    string   `json:"path"`
	Exclude []string `json:"exclude,omitempty"` // names directly below Path
}

// Mode holds permission bits, written 0o755 or "0755".
type Mode int64

// UnmarshalJSON takes a number, or text in any base that Go knows.
func (m *Mode) UnmarshalJSON(data []byte) error {
	v, err := strconv.ParseInt(strings.Trim(string(data), `"`), 0, 32)
	if err != nil || v < 0 || v > 0o7777 {
		return fmt.Errorf("mode %s: want permission bits such as 0o755", data)
	}
	*m = Mode(v)
	return nil
}

// Load reads and checks a file.
func Load(file string) (File, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return File{}, err
	}
	f, err := Parse(data)
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", file, err)
	}
	return f, nil
}

// Parse refuses unknown fields and reports all problems at once.
func Parse(data []byte) (File, error) {
	var f File
	if err := yaml.UnmarshalStrict(data, &f); err != nil {
		return File{}, err
	}
	return f, f.check()
}

var validName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (f File) check() error {
	var errs []error
	if f.Registry == "" || f.Tag == "" {
		errs = append(errs, errors.New("registry and tag are required"))
	}
	for name, items := range f.Layers {
		errs = append(errs, checkItems("layer "+name, items)...)
	}
	seen := map[string]bool{}
	for _, i := range f.Images {
		where := "image " + i.Name
		if !validName.MatchString(i.Name) || seen[i.Name] {
			errs = append(errs, fmt.Errorf("%s: want a name of lower-case letters, digits and dashes that no other has", where))
		}
		seen[i.Name] = true
		for _, l := range i.Layers {
			if _, ok := f.Layers[l]; !ok {
				errs = append(errs, fmt.Errorf("%s: no layer is named %q", where, l))
			}
		}
		if len(i.Layers)+len(i.Items) == 0 {
			errs = append(errs, fmt.Errorf("%s: has neither layers nor items", where))
		}
		errs = append(errs, checkItems(where, i.Items)...)
	}
	return errors.Join(errs...)
}

func checkItems(where string, items []Item) []error {
	var errs []error
	for _, it := range items {
		if n := it.sources(); n != 1 {
			errs = append(errs, fmt.Errorf("%s: item %q has %d sources, want one", where, it.To, n))
		}
		if absolute := path.IsAbs(it.To) && path.Clean(it.To) == it.To; absolute == (it.Programs != nil) {
			errs = append(errs, fmt.Errorf("%s: item to %q: want an absolute, clean path (and none with programs)", where, it.To))
		}
	}
	return errs
}

func (it Item) sources() int {
	n := 0
	for _, set := range []bool{it.Go != nil, it.NPM != nil, it.Copy != "", it.Content != nil, it.Link != "", it.Dir, it.Programs != nil} {
		if set {
			n++
		}
	}
	return n
}

// References are the names the image is known by, first the main one.
func (f File) References(i Image) []string {
	names := i.Names
	if len(names) == 0 {
		names = []string{i.Name + ":" + f.Tag}
	}
	out := make([]string, 0, len(names))
	for _, n := range names {
		out = append(out, f.Registry+"/"+n)
	}
	return out
}

// Labels describe the image the way the OCI names it.
func (f File) Labels(i Image) map[string]string {
	const prefix = "org.opencontainers.image."
	out := map[string]string{
		prefix + "title": i.Name, prefix + "description": i.Description, prefix + "source": f.Source, prefix + "version": f.Tag,
	}
	if i.Licenses != "" {
		out[prefix+"licenses"] = i.Licenses
	}
	return out
}
