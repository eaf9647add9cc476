package server

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

// later is a call that began as an ordinary request and may become a task while
// its handler runs: it runs once, and only its answer comes another way
// (W36.9).
type later struct {
	s       *Server
	x       *dispatch.Exchange
	request context.Context
	// end ends the work's own context.
	end context.CancelCauseFunc
	// answer is the request's, result the task's; one place each, and only one
	// of them is used.
	answer, result chan dispatch.Outcome

	mu     sync.Mutex
	unlink func() bool // cuts the work from the request; false when one of them has ended
	became bool
}

// callLater runs a call that may become a task. Its context is the request's
// until then, and the task's from then on.
func (s *Server) callLater(c *Context, invoke func(*Context) dispatch.Outcome) dispatch.Outcome {
	ctx, end := context.WithCancelCause(context.WithoutCancel(c.Context))
	l := &later{s: s, x: c.x, request: c.Context, end: end, answer: make(chan dispatch.Outcome, 1), result: make(chan dispatch.Outcome, 1)}
	l.link()
	run := c.fork(ctx)
	run.later = l
	go func() {
		defer end(context.Canceled)
		l.finish(invoke(run))
	}()
	select {
	case o := <-l.answer:
		return o
	case <-c.Done():
		return dispatch.Fail(dispatch.Explain(context.Cause(c.Context)))
	}
}

// link makes the work end with the request.
func (l *later) link() {
	l.unlink = context.AfterFunc(l.request, func() { l.end(context.Cause(l.request)) })
}

// finish hands the outcome to whoever the run belongs to by now.
func (l *later) finish(o dispatch.Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.became {
		l.result <- o
		return
	}
	l.unlink()
	l.answer <- o
}

// BecomeTask makes a task of the request, which is answered with it at once;
// the handler goes on and its answer becomes that of the task (W36.3, W36.9).
// It returns nil when the request cannot become one: the tool is not one with
// TaskLater, or the client takes no tasks. In a task it returns that one. An
// error means that the request is still an ordinary one: the handler may go on,
// or give up.
//
// Call it before the handler starts goroutines that use the Context.
func (c *Context) BecomeTask() (*task.Handle, error) {
	if c.task != nil || c.later == nil {
		return c.task, nil
	}
	made, handle, err := c.later.become(c)
	if err != nil {
		return nil, err
	}
	l := c.later
	c.becomes(handle)
	l.answer <- dispatch.Result(made.ModernCreate())
	return handle, nil
}

func (l *later) become(c *Context) (made task.Task, handle *task.Handle, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.unlink() {
		return made, nil, context.Cause(c.Context)
	}
	handles := make(chan *task.Handle, 1)
	made, err = l.s.opt.Tasks.Start(c.Context, endpoint.OwnerOf(l.x), l.s.taskSpec(c, task.Spec{}), func(ctx context.Context, h *task.Handle) jsonrpc.Outcome {
		defer context.AfterFunc(ctx, func() { l.end(context.Cause(ctx)) })()
		handles <- h
		return <-l.result
	})
	if err != nil {
		l.link()
		return made, nil, l.s.taskError(l.x, err)
	}
	l.became = true
	return made, <-handles, nil
}
