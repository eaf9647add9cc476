package socket_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

func TestAStaleSocketIsReplacedAndNothingElseIs(t *testing.T) { // O9
	dir := t.TempDir()
	path := filepath.Join(dir, "s")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false) // as if it had been killed
	stale.Close()
	l, err := socket.Listen(path)
	if err != nil {
		t.Fatalf("over a stale socket: %v", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := socket.Listen(path); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("over a living one: %v", err)
	}
	l.Close()
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after Close: %v", err)
	}
	for name, make := range map[string]func(string) error{
		"a file":      func(p string) error { return os.WriteFile(p, []byte("precious"), 0o600) },
		"a directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"a link":      func(p string) error { return os.Symlink(path, p) },
	} {
		t.Run(name, func(t *testing.T) {
			p := filepath.Join(t.TempDir(), "x")
			if err := make(p); err != nil {
				t.Fatal(err)
			}
			if _, err := socket.Listen(p); err == nil || !strings.Contains(err.Error(), "no socket") {
				t.Errorf("got %v", err)
			}
			if _, err := os.Lstat(p); err != nil {
				t.Errorf("it is gone: %v", err)
			}
		})
	}
	if _, err := socket.Listen("/tmp/" + strings.Repeat("x", 95)); err == nil || !strings.Contains(err.Error(), "at most 99") {
		t.Errorf("a path of 100 bytes: %v", err)
	}
}

func TestThePeerIsWhoConnected(t *testing.T) {
	l, err := socket.Listen(filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.DialUnix("unix", nil, l.Addr().(*net.UnixAddr))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	s, err := l.AcceptUnix()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want := socket.Peer{UID: os.Getuid(), PID: os.Getpid()}
	for _, end := range []*net.UnixConn{c, s} {
		if got, err := socket.PeerOf(end); err != nil || got != want {
			t.Errorf("got %+v, %v, want %+v", got, err, want)
		}
	}
	s.Close()
	if _, err := socket.PeerOf(s); err == nil {
		t.Error("a closed connection has a peer")
	}
}
