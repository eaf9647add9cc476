package supervisor

import (
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// What the peer of an offer does, and what the agent makes of it.
func TestTheWayOfAProcessIsFound(t *testing.T) { // P11
	tests := map[string]struct {
		forced  bool
		refuses error  // what the kernel says to descriptors
		answer  string // the peer's; "-" hangs up, "" says nothing
		stops   bool   // the container, meanwhile
		offers  string // part of what the peer is told
		relayed bool
		failed  string // part of the error
		log     string
	}{
		"the pipes arrive":               {answer: `{"way":"descriptors"}`, offers: `"way":"descriptors"`},
		"they do not arrive":             {answer: `{"way":"relay"}`, offers: `"way":"descriptors"`, relayed: true, log: "descriptors do not arrive"},
		"they cannot be sent":            {refuses: unix.EPERM, offers: `"way":"relay"`, relayed: true, log: "operation not permitted"},
		"too many are under way":         {refuses: unix.ETOOMANYREFS, offers: `"way":"relay"`, relayed: true, log: "too many references"},
		"they are not to be sent":        {forced: true, offers: `"way":"relay"`, relayed: true, log: "as the flag says"},
		"the peer has gone":              {refuses: unix.EPIPE, failed: "broken pipe"},
		"the peer goes then":             {answer: "-", offers: `"way":"descriptors"`, failed: "EOF"},
		"the peer says something else":   {answer: `{"stop":{}}`, offers: `"way":"descriptors"`, failed: "does not say whether"},
		"the peer says what makes none":  {answer: `yes`, offers: `"way":"descriptors"`, failed: "not a JSON object"},
		"the container ends before that": {stops: true, offers: `"way":"descriptors"`, failed: "timeout"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			log := &lockedBuilder{}
			s := &Supervisor{Log: NewLog(log), Relay: tt.forced, Termination: 5 * time.Millisecond, stopping: make(chan struct{})}
			near, far := sockets(t)
			c := newConnection(near)
			send := c.send
			c.send = func(p, oob []byte) (int, error) {
				if len(oob) > 0 && tt.refuses != nil {
					return 0, &net.OpError{Op: "write", Err: os.NewSyscallError("sendmsg", tt.refuses)}
				}
				return send(p, oob)
			}
			told := make(chan string, 1)
			go func() {
				buf := make([]byte, 1000)
				n, _ := far.Read(buf)
				told <- string(buf[:n])
				switch tt.answer {
				case "":
				case "-":
					far.Close()
				default:
					far.Write([]byte(tt.answer + "\n"))
				}
			}()
			if tt.stops {
				close(s.stopping)
			}
			ends, err := newPipes()
			if err != nil {
				t.Fatal(err)
			}
			relayed, err := s.offer(c, 7, ends.ours[0], ends.ours[1])
			closeAll(ends.ours)
			closeAll(ends.child)
			if relayed != tt.relayed || (err == nil) != (tt.failed == "") || err != nil && !strings.Contains(err.Error(), tt.failed) {
				t.Errorf("relayed %v, %v", relayed, err)
			}
			near.Close()
			if got := <-told; !strings.Contains(got, tt.offers) {
				t.Errorf("told %q", got)
			}
			s.Log.Close(time.Minute)
			if got := log.String(); !strings.Contains(got, tt.log) || tt.log == "" && got != "" {
				t.Errorf("log %q", got)
			}
		})
	}
}

// sockets are two ends of one connection.
func sockets(t *testing.T) (a, b *net.UnixConn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	open := func(fd int) *net.UnixConn {
		f := os.NewFile(uintptr(fd), "")
		defer f.Close()
		c, err := net.FileConn(f)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.(*net.UnixConn)
	}
	return open(fds[0]), open(fds[1])
}
