package streamable

import (
	"context"
	"math"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// mayWork reports whether the HTTP goroutine can run the handler: it comes back
// as soon as the request is cancelled. A connection that carries other requests
// too could not be given up meanwhile.
func (a *answer) mayWork() bool {
	a.prompt = a.r.ProtoMajor == 1 && a.msg.Method != mcp.MethodInitialize && a.running.Prompt()
	return a.prompt
}

// work runs the handler of a prompt request on the HTTP goroutine, and then
// writes its answer: nearly all answers come before anything else has to be
// written, and need no goroutine beside this one. Should the answer become a
// stream first, that is written by one of its own.
func (a *answer) work() {
	if wait := a.patience(); wait < math.MaxInt64 {
		a.s.patience.Set(&a.early, a.running.Began(), wait, (*undecided)(a))
	}
	if a.wire.DisconnectCancels {
		defer context.AfterFunc(a.r.Context(), a.abandon)()
	}
	a.running.Work() // delivers before it returns
	a.s.patience.Stop(&a.early)
	a.mu.Lock()
	writer := a.writer
	a.mu.Unlock()
	if writer == nil {
		a.finish()
		return
	}
	<-writer
}

// undecided is an answer that must not stay so any longer.
type undecided answer

// Ring implements lapse.Ringer.
func (a *undecided) Ring() { (*answer)(a).commit() }

// write writes the stream of a prompt request. Should it be over before the
// handler is, it cannot end as others do, which is by returning from ServeHTTP:
// the connection ends with it.
func (a *answer) write(st *stream.Stream) {
	defer close(a.writer)
	a.follow(st)
	a.mu.Lock()
	done := a.done
	a.mu.Unlock()
	if !done {
		a.Leave(a.r.ProtoAtLeast(1, 1))
	}
}
