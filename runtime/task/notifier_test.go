package task_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Wakes are collected, reach everybody who watches, and nobody else; who stops
// leaves nothing behind.
func TestLocal(t *testing.T) {
	var l task.Local
	a, stopA := l.Watch("k")
	b, stopB := l.Watch("k")
	other, stopOther := l.Watch("other")
	for range 3 {
		l.Wake("k")
	}
	l.Wake("nobody's")
	for _, c := range []<-chan struct{}{a, b} {
		<-c
		select {
		case <-c:
			t.Error("woken twice")
		default:
		}
	}
	select {
	case <-other:
		t.Error("woken for another key")
	default:
	}
	stopA()
	l.Wake("k")
	<-b
	stopB()
	stopB()
	stopOther()
	if n := l.Watched(); n != 0 {
		t.Errorf("%d keys are watched", n)
	}
}

// Whoever waited for a task, and however that ended, watches it no more.
func TestNobodyIsLeftWatching(t *testing.T) {
	l := &task.Local{}
	bubble(t, task.Options{Notifier: l}, func(t *testing.T, r *rig) {
		made := r.start(alice, call, asks([]task.Question{question("a")}))
		c := newClient()
		waited := r.result(t.Context(), made.ID, c.carry)
		c.say <- jsonrpc.Result([]byte(`1`))
		<-waited
		r.status(alice, made.ID, task.Completed)
		if n := l.Watched(); n != 0 {
			t.Errorf("%d keys are watched", n)
		}
	})
}
