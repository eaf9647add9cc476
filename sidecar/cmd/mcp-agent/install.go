package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// binary is the program's name in the pod, whatever it is called in the image.
const binary = "mcp-agent"

func install(args []string, stderr io.Writer) int {
	fs := newFlags("install", stderr)
	to := fs.String("to", "", "directory to install into; it must exist")
	if status, ok := parse(fs, args); !ok {
		return status
	}
	if *to == "" || fs.NArg() > 0 {
		return fail(stderr, exitUsage, "install needs --to DIR and nothing else")
	}
	if err := copySelf(*to); err != nil {
		return fail(stderr, exitFailed, "install: %v", err)
	}
	return exitOK
}

// copySelf puts this program into dir under its name, executable for every
// uid. The name never stands for half a file: also not when a container that
// is being restarted executes it at the same moment.
func copySelf(dir string) error {
	if info, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return fmt.Errorf("%s is no directory: is the volume mounted there?", dir)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	from, err := os.Open(self)
	if err != nil {
		return err
	}
	defer from.Close()
	temporary, err := os.CreateTemp(dir, "."+binary+"-")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name()) // gone under that name if all went well
	_, err = io.Copy(temporary, from)
	if err == nil {
		err = temporary.Chmod(0o755)
	}
	if err == nil {
		err = temporary.Sync()
	}
	if cerr := temporary.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), filepath.Join(dir, binary))
}
