package mount

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// dataLink is what the kubelet swaps to publish a new version of all files at
// once.
const dataLink = "..data"

// ErrTooLarge is wrapped when a file or the number of files passes its bound.
var ErrTooLarge = errors.New("too large")

// Read returns the files of dir by name, all of one version: the kubelet's
// link is followed once, so a swap in between cannot mix two. Names that begin
// with a dot are not files of the object. At most maxFiles files of maxBytes
// each are read; more is an error.
func Read(dir string, maxFiles int, maxBytes int64) (map[string][]byte, error) {
	root, err := version(dir)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.IsDir() {
			continue
		}
		if len(files) == maxFiles {
			return nil, fmt.Errorf("%w: more than %d files in %s", ErrTooLarge, maxFiles, dir)
		}
		data, err := readFile(filepath.Join(root, e.Name()), maxBytes)
		if err != nil {
			return nil, err
		}
		files[e.Name()] = data
	}
	return files, nil
}

// version is the directory that holds the current version of dir's files: dir
// itself where no kubelet is at work.
func version(dir string) (string, error) {
	target, err := os.Readlink(filepath.Join(dir, dataLink))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return dir, nil
	case err != nil:
		return "", err
	case filepath.IsAbs(target):
		return target, nil
	default:
		return filepath.Join(dir, target), nil
	}
}

func readFile(name string, most int64) ([]byte, error) {
	// Without O_NONBLOCK, opening a FIFO that nobody writes to never returns.
	f, err := os.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %s has more than %d bytes", ErrTooLarge, name, most)
	}
	return data, nil
}
