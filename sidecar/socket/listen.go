// Package socket is the pod's unix sockets: how one is opened for the other
// container, and who is at the other end. It must not know what is said.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
)

// MaxPath bounds a socket's path in bytes. The kernel's own bound is 107.
const MaxPath = 99

// CheckPath refuses a path that is too long, in words.
func CheckPath(path string) error {
	if len(path) > MaxPath {
		return fmt.Errorf("the socket path has %d bytes, at most %d work", len(path), MaxPath)
	}
	return nil
}

// Listen listens on a unix socket at path that any uid may connect to (O9):
// the two containers differ in theirs. A socket that nobody listens on any
// more, left by the container's last life, is replaced; the directory is not
// touched. Closing the listener removes the socket.
func Listen(path string) (*net.UnixListener, error) {
	if err := CheckPath(path); err != nil {
		return nil, err
	}
	if err := removeStale(path); err != nil {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

func removeStale(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is no socket", path)
	}
	if c, err := net.Dial("unix", path); err == nil {
		c.Close()
		return fmt.Errorf("somebody listens on %s already", path)
	}
	return os.Remove(path)
}
