package build

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/fairlead-dev/fairlead/hack/internal/archive"
)

// tree adds a file, or a folder with everything below it. exclude names entries
// directly below. Owner and mode of e apply to files; folders get their defaults.
func (c *collector) tree(e archive.Entry, from string, exclude []string) error {
	return filepath.WalkDir(from, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, p)
		if err != nil {
			return err
		}
		if filepath.Dir(rel) == "." && slices.Contains(exclude, rel) {
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		}
		one := e
		one.Path = path.Join(e.Path, filepath.ToSlash(rel))
		switch {
		case d.IsDir():
			one.Dir, one.Mode = true, 0
			fmt.Fprintf(c.key, "%s/\n", one.Path)
			c.entries = append(c.entries, one)
			return nil
		case d.Type() == fs.ModeSymlink:
			one.Link, err = os.Readlink(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.key, "%s -> %s\n", one.Path, one.Link)
			c.entries = append(c.entries, one)
			return nil
		case d.Type().IsRegular():
			one.Source = p
			return c.file(one)
		}
		return fmt.Errorf("%s: neither file, folder nor symbolic link", p)
	})
}
