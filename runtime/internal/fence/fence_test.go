package fence_test

import (
	"bytes"
	"runtime"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
)

func TestCall(t *testing.T) {
	ran := false
	if !fence.Call(func(v any, _ []byte) { t.Errorf("reported %v", v) }, func() { ran = true }) || !ran {
		t.Error("what does not panic")
	}
	var value any
	var stack []byte
	if fence.Call(func(v any, s []byte) { value, stack = v, s }, boom) || value != "boom" || !bytes.Contains(stack, []byte("fence_test.boom")) {
		t.Errorf("reported %v at %s", value, stack)
	}
	if fence.Call(nil, boom) {
		t.Error("nobody to report to")
	}
}

func TestAGoroutineThatEndsItselfIsNoPanic(t *testing.T) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		fence.Call(func(v any, _ []byte) { t.Errorf("reported %v", v) }, runtime.Goexit)
	}()
	<-done
}

func boom() { panic("boom") }
