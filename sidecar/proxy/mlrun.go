package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
)

// mlRun is the work of a client's task: the call goes on and ends it. A call
// that wants a page to be visited first is made again when the task's client
// has been there (B7.19).
func (p *Proxy) mlRun(ctx context.Context, x *dispatch.Exchange, h *task.Handle, f *flight, c *park.Claim) dispatch.Outcome {
	for visits := f.visits; ; visits++ {
		turn, err := c.Wait(ctx)
		if err == nil && f.cancelledThere() {
			// B12.12. The outcome counts no more; should this fail, it says the same.
			_, _ = p.cfg.Tasks.Cancel(ctx, endpoint.OwnerOf(x), h.ID(), f.theirs().message)
		}
		page := pageOf(turn)
		if err != nil || page == nil || visits >= maxVisits {
			return p.turned(ctx, x, f, nil, maxVisits, turn, err)
		}
		if o := visitByTask(ctx, x, h, page); !o.IsZero() {
			return o
		}
		next, refused, err := p.launch(ctx, x, nil, park.Answers{}, h)
		switch {
		case err != nil:
			return dispatch.Fail(notOpened(ctx, err))
		case refused != nil:
			return dispatch.Fail(refused)
		}
		f, c = next, next.exchange.First()
	}
}

// pageOf is the error that asks for a page to be visited, nil if a turn is
// something else.
func pageOf(turn park.Turn) *jsonrpc.Error {
	if turn.Final == nil {
		return nil
	}
	if e := turn.Final.Answer.Err; e != nil && e.Code == mcp.CodeURLElicitation && len(visits(e)) > 0 {
		return e
	}
	return nil
}

// visitByTask sends the client to the pages; the zero Outcome means that it
// says it has been there.
func visitByTask(ctx context.Context, x *dispatch.Exchange, h *task.Handle, page *jsonrpc.Error) dispatch.Outcome {
	if !mcp.ElicitationMode(x.ClientCapabilities(), "url") {
		return dispatch.Fail(lacking(mcp.CapElicitation + ".url"))
	}
	var questions []task.Question
	for _, q := range visits(page) {
		questions = append(questions, task.Question{Name: park.Kind(q.Method), Method: q.Method, Params: q.Params})
	}
	answers, err := h.Ask(ctx, questions...)
	if err != nil {
		return dispatch.Fail(task.RPC(err))
	}
	for _, a := range answers {
		if a.Err != nil || !elicited(a.Result) {
			return declined(x.Msg.Method)
		}
	}
	return dispatch.Outcome{}
}
