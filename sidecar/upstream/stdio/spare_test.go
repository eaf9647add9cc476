package stdio

import (
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

// stub is a child that only ends.
type stub struct{ done chan struct{} }

func (c *stub) Stdin() io.WriteCloser { return nil }
func (c *stub) Stdout() io.ReadCloser { return nil }
func (c *stub) Done() <-chan struct{} { return c.done }
func (c *stub) Exit() agent.Exit      { return agent.Exit{} }
func (c *stub) Stop()                 { close(c.done) }
func (c *stub) Close()                {}

// What a spare holds ends with the process that it has become: the spares that
// stay do not keep it.
func TestASpareThatWasTakenIsLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(Config{Model: Pooled, MaxProcesses: 8})
		const spares = 3
		p.reserved = spares
		for range spares {
			p.keepSpare(&stub{make(chan struct{})})
		}
		use := func() weak.Pointer[stub] {
			c := p.takeSpare().(*stub)
			c.Stop()
			return weak.Make(c)
		}
		used := use()
		synctest.Wait()
		runtime.GC()
		if used.Value() != nil {
			t.Error("it is still held")
		}
		if n := p.Spares(); n != spares-1 {
			t.Errorf("%d spares", n)
		}
		p.Shutdown(t.Context())
	})
}
