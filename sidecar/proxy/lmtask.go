package proxy

import (
	"context"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Bounds of following a task of the workload.
const (
	pollFirst = time.Second // where the workload does not say how often
	pollLeast = 50 * time.Millisecond
	pollMost  = 30 * time.Second
	// goodbye is how long telling the workload of a cancelled task may take.
	goodbye = 5 * time.Second
)

// declaringTasks are client capabilities with the extension: a workload that
// has it may answer with a task, and we follow that to its end, whatever the
// client knows of tasks (B12.2, B12.6).
func declaringTasks(capabilities []byte) []byte {
	out, err := strictjson.Splice(capabilities, strictjson.Set([]byte(`{}`), "extensions", mcp.ExtensionTasks))
	if err != nil {
		return capabilities
	}
	return out
}

// lmTask makes a task of a tools/call that asks for one; the zero Outcome
// means that it does not. Whether the workload answers at once, asks first or
// makes a task of its own is the same to the client (B12.2).
func (p *Proxy) lmTask(ctx context.Context, x *dispatch.Exchange, s *lmSession, e *errand) dispatch.Outcome {
	return p.asked(ctx, x, func(ctx context.Context, h *task.Handle) dispatch.Outcome {
		e.request.Value = &lmCall{s: s, x: x, h: h}
		return p.lmRounds(ctx, x, s, e, h)
	})
}

// followed is a task of the workload as its last answer showed it.
type followed struct {
	id      []byte // raw
	status  string
	message string
	poll    time.Duration
	raw     []byte
}

// lmFollow asks for a task of the workload until it is over, and answers its
// questions meanwhile (B12.4, B12.6). When nobody waits any more the workload
// is told (B12.5).
func (p *Proxy) lmFollow(ctx context.Context, a *asking, e *errand, created []byte) dispatch.Outcome {
	t, ok := readFollowed(created, nil)
	if !ok {
		return badResponse()
	}
	asked := map[string]bool{}
	call, _ := e.request.Value.(*lmCall)
	for {
		if pause(ctx, t.poll) != nil {
			p.lmAbandon(ctx, e, t.id)
			return dispatch.Fail(dispatch.Explain(context.Cause(ctx)))
		}
		answer, err := p.lmTaskCall(ctx, e, mcp.MethodTasksGet, t.id, nil)
		switch {
		case err != nil && ctx.Err() != nil:
			continue // the pause says so
		case err != nil:
			return dispatch.Fail(failed(ctx, err))
		case answer.Err != nil:
			return p.lmFailed(a.x, answer.Err)
		}
		before := t.message
		if t, ok = readFollowed(answer.Result, t.id); !ok {
			return badResponse()
		}
		if t.message != "" && t.message != before {
			a.progress(call, t.message)
		}
		if t.status == string(task.InputRequired) {
			if over := p.lmAnswer(ctx, a, e, t, asked); over != nil {
				p.lmAbandon(ctx, e, t.id)
				return *over
			}
		}
		if o, over := p.lmOver(ctx, a, e, t); over {
			return o
		}
	}
}

// lmOver is what the client gets of a task that is over (B12.3, B12.4).
func (p *Proxy) lmOver(ctx context.Context, a *asking, e *errand, t followed) (o dispatch.Outcome, over bool) {
	switch task.Status(t.status) {
	case task.Working, task.InputRequired:
		return o, false
	case task.Completed:
		result, _ := strictjson.Get(t.raw, "result")
		if !strictjson.IsObject(result) {
			return badResponse(), true
		}
		a.completed()
		return p.lmResult(ctx, a.x, a.s, e, result), true
	case task.Failed:
		raw, _ := strictjson.Get(t.raw, "error")
		bad, ok := readError(raw)
		if !ok {
			return badResponse(), true
		}
		return p.lmFailed(a.x, bad), true
	case task.Cancelled:
		return dispatch.Fail(internal("task cancelled", mcp.ReasonCancelled)), true
	}
	return badResponse(), true
}

// lmAnswer asks the client what the task has not asked before, and gives the
// workload the answers.
func (p *Proxy) lmAnswer(ctx context.Context, a *asking, e *errand, t followed, asked map[string]bool) *dispatch.Outcome {
	requests, _ := strictjson.Get(t.raw, "inputRequests")
	var fresh []question
	fits := true
	good := strictjson.Each(requests, func(key, value []byte) bool {
		var q question
		q, fits = readQuestion(key, value)
		if !asked[q.key] {
			asked[q.key] = true
			fresh = append(fresh, q)
		}
		return fits && len(asked) <= maxRounds*maxQuestions
	})
	switch {
	case !good, !fits:
		o := badResponse()
		return &o
	case len(asked) > maxRounds*maxQuestions || len(fresh) > maxQuestions:
		o := dispatch.Fail(internal("the workload asked too many times", reasonRounds))
		return &o
	case len(fresh) == 0:
		return nil // it has the answers, or will have them
	}
	answers, over := a.round(ctx, fresh)
	if over != nil {
		return over
	}
	answer, err := p.lmTaskCall(ctx, e, mcp.MethodTasksUpdate, t.id, answers)
	var o dispatch.Outcome
	switch {
	case err != nil:
		o = dispatch.Fail(failed(ctx, err))
	case answer.Err != nil:
		o = p.lmFailed(a.x, answer.Err)
	default:
		return nil
	}
	return &o
}

// lmTaskCall makes a request about a task of the workload.
func (p *Proxy) lmTaskCall(ctx context.Context, e *errand, method string, id, answers []byte) (peer.Answer, error) {
	params := append([]byte(`{"taskId":`), id...)
	if answers != nil {
		params = append(append(params, `,"inputResponses":`...), answers...)
	}
	params = append(append(append(params, `,"_meta":`...), e.envelope()...), '}')
	about := *e
	about.request = peer.Request{Method: method, Params: params}
	return about.run(ctx)
}

// lmAbandon tells the workload that nobody waits for its task any more.
func (p *Proxy) lmAbandon(ctx context.Context, e *errand, id []byte) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), goodbye)
	defer stop()
	_, _ = p.lmTaskCall(ctx, e, mcp.MethodTasksCancel, id, nil) // it may be over, or gone
}

// readFollowed reads a task; id is what it must be, nil for the first time.
func readFollowed(raw, id []byte) (t followed, ok bool) {
	t.raw = raw
	t.id, _ = strictjson.Get(raw, "taskId")
	if text, isText := strictjson.String(t.id); !isText || text == "" || id != nil && string(id) != string(t.id) {
		return t, false
	}
	status, _ := strictjson.Get(raw, "status")
	t.status, ok = strictjson.String(status)
	message, _ := strictjson.Get(raw, "statusMessage")
	t.message, _ = strictjson.String(message)
	poll, _ := strictjson.Get(raw, "pollIntervalMs")
	t.poll = pollFirst
	if ms, err := strconv.ParseFloat(string(poll), 64); err == nil && ms >= 0 {
		t.poll = time.Duration(min(ms, float64(pollMost/time.Millisecond)) * float64(time.Millisecond))
	}
	t.poll = max(t.poll, pollLeast)
	return t, ok
}

// readError reads a JSON-RPC error.
func readError(raw []byte) (*jsonrpc.Error, bool) {
	code, _ := strictjson.Get(raw, "code")
	n, err := strconv.ParseInt(string(code), 10, 64)
	message, _ := strictjson.Get(raw, "message")
	text, ok := strictjson.String(message)
	out := &jsonrpc.Error{Code: n, Message: text}
	if data, has := strictjson.Get(raw, "data"); has {
		out.Data = data
	}
	return out, err == nil && ok
}
