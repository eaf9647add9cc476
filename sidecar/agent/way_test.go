package agent_test

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// way is how the streams of a process get to its owner.
type way struct {
	flags   []string
	relayed bool
}

// everyWay runs a test of processes once for each way: above this package they
// are the same (P11).
func everyWay(t *testing.T, test func(t *testing.T, w way)) {
	for name, w := range map[string]way{
		"pipes are passed":    {},
		"streams are relayed": {flags: []string{"--relay"}, relayed: true},
	} {
		t.Run(name, func(t *testing.T) { test(t, w) })
	}
}

// rig is newRig for the way.
func (w way) rig(t *testing.T, flags ...string) *rig {
	t.Helper()
	r := newRig(t, append(flags, w.flags...)...)
	r.relayed = w.relayed
	return r
}

func TestStreamsAreRelayedWhereDescriptorsGetLostOnTheWay(t *testing.T) {
	r := newRig(t)
	r.relayed = true
	r.Socket = lossy(t, r.socket)
	p := r.start("echo exit:7", patient)
	out := r.lines(p)
	io.WriteString(p.Stdin, "hello\n")
	if got := out.next(); got != "hello" {
		t.Errorf("echo: %q", got)
	}
	p.Stop()
	if got := r.done(p); got.Code != 7 || got.Err != nil {
		t.Errorf("%+v", got)
	}
	if got := out.rest(); got != "" {
		t.Errorf("more output: %q", got)
	}
	given := r.start("daemon echo", quick)
	daemon := r.lines(given).pid()
	given.Close()
	r.eventually("it is gone with all it made", func() bool { return !alive(given.PID) && !alive(daemon) })
	r.terminate()
	if log := r.log.String(); strings.Count(log, "relays the streams of processes over the socket: descriptors do not arrive") != 1 {
		t.Errorf("log %s", log)
	}
}

// lossy listens in front of a socket and carries bytes both ways. Descriptors
// that come along are closed by the kernel: nobody has room for them.
func lossy(t *testing.T, socket string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			front, err := l.AcceptUnix()
			if err != nil {
				return
			}
			back, err := net.Dial("unix", socket)
			if err != nil {
				front.Close()
				continue
			}
			carry := func(to, from net.Conn) {
				io.Copy(onlyWriter{to}, from) // a splice would be no different
				to.(*net.UnixConn).CloseWrite()
			}
			all.Go(func() {
				var two sync.WaitGroup
				two.Go(func() { carry(front, back) })
				two.Go(func() { carry(back, front) })
				two.Wait()
				front.Close()
				back.Close()
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return path
}

type onlyWriter struct{ io.Writer }
