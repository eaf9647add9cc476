package agent_test

import (
	"net"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

func TestProcessesAreBoundedUntilTheyAreReallyGone(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t, "--max-processes", "2")
		first := r.start("deaf say:armed hang", func(req *agent.StartRequest) {
			req.StdinGrace, req.TermGrace = time.Millisecond, time.Minute
		})
		r.lines(first).next()
		second := r.start("echo", patient)
		if _, err := r.try("echo"); agent.CodeOf(err) != agent.CodeLimit {
			t.Errorf("a third: %v", err)
		}
		first.Stop() // ignores TERM, so its place stays taken
		if _, err := r.try("echo"); agent.CodeOf(err) != agent.CodeLimit {
			t.Errorf("while one is being ended: %v", err)
		}
		if err := r.Check(t.Context()); err != nil {
			t.Errorf("a check at the limit: %v", err)
		}
		first.Signal(agent.SIGKILL)
		r.done(first)
		r.eventually("its place is free", func() bool {
			p, err := r.try("echo", patient)
			if err == nil {
				p.Close()
			}
			return err == nil
		})
		second.Close()
	})
}

func TestTwoProcessesMayNotShareAKey(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		key := func(req *agent.StartRequest) { req.Key = "same" }
		p := r.start("echo", key)
		if _, err := r.try("echo", key); agent.CodeOf(err) != agent.CodeKeyInUse {
			t.Errorf("got %v", err)
		}
		p.Stop()
		r.done(p)
		r.eventually("the key is free", func() bool {
			p, err := r.try("echo", key)
			if err == nil {
				p.Close()
			}
			return err == nil
		})
	})
}

func TestConnectionsAreBounded(t *testing.T) {
	r := newRig(t, "--max-processes", "1")
	var open []net.Conn
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for range 33 { // one process and 32 spare
		c, err := net.Dial("unix", r.Socket)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	r.eventually("the next is refused", func() bool {
		return agent.CodeOf(r.Check(t.Context())) == agent.CodeLimit
	})
	for _, c := range open {
		c.Close()
	}
	r.eventually("all is free again", func() bool { return r.Check(t.Context()) == nil })
}
