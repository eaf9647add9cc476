package proxy

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/older"
)

// maxAsked bounds the questions that a client is asked at the same time.
const maxAsked = 8

// visitPause is how long a user has for what an address wants before the
// workload is asked once more (B8.7).
const visitPause = 10 * time.Second

// asking puts a workload's questions to a legacy client, on the stream of its
// request (B8.2), round after round.
type asking struct {
	s    *lmSession
	x    *dispatch.Exchange
	h    *task.Handle    // nil unless the request has become a task
	life context.Context // of the request, or the task

	mu      sync.Mutex
	visited map[string]*visit // by address
}

// visit is an address that the user has agreed to visit.
type visit struct {
	id     []byte // elicitationId, raw JSON
	params []byte // of the elicitation, as the client got them
	times  int    // asked again since
}

// round asks everything that the workload wants to know now. It returns the
// answers under the workload's keys, nil for no questions, or how the request
// ends instead.
func (a *asking) round(ctx context.Context, questions []question) (answers []byte, over *dispatch.Outcome) {
	if len(questions) == 0 {
		return nil, nil
	}
	ctx, stop := context.WithTimeout(ctx, roundWait)
	defer stop()
	results := make([][]byte, len(questions))
	turns := make(chan struct{}, maxAsked)
	var (
		wg   sync.WaitGroup
		once sync.Once
	)
	for i, q := range questions {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			var end *dispatch.Outcome
			if results[i], end = a.ask(ctx, q); end != nil {
				once.Do(func() { over = end })
				stop() // the others are of no use any more
			}
		})
	}
	wg.Wait()
	if over != nil {
		return nil, over
	}
	answers = []byte{'{'}
	for i, q := range questions {
		if i > 0 {
			answers = append(answers, ',')
		}
		answers = append(strictjson.Quote(answers, q.key), ':')
		answers = append(answers, results[i]...)
	}
	return append(answers, '}'), nil
}

var cancelled = []byte(`{"action":"cancel"}`)

// ask asks one question.
func (a *asking) ask(ctx context.Context, q question) (answer []byte, over *dispatch.Outcome) {
	method := a.x.Msg.Method
	address := urlOf(q)
	if address != "" {
		if again, answer, over := a.again(ctx, address); again {
			return answer, over
		}
	}
	id := strictjson.Quote(nil, rand.Text())
	params, verdict := older.Ask(a.s.profile, a.s.s.ClientCapabilities(), q.method, q.params, id)
	switch verdict {
	case older.Cancels: // B0.4
		a.s.p.lossy(LossyReverse)
		return cancelled, nil
	case older.Undeclared: // B8.6
		a.s.p.lossy(LossyReverse)
		return nil, aborted(method, "the workload asked for "+about(q.method)+" that this client did not declare")
	}
	o := a.call(ctx, q, params)
	if o.Err != nil {
		return a.unanswered(q, o.Err)
	}
	if !strictjson.IsObject(o.Result) {
		return nil, aborted(method, "the client's answer to "+about(q.method)+" could not be read")
	}
	if address != "" && elicited(o.Result) {
		a.visits(address, &visit{id: id, params: params})
	}
	return o.Result, nil
}

// call asks the client: on the stream of the request, or of a tasks/result.
func (a *asking) call(ctx context.Context, q question, params []byte) dispatch.Outcome {
	if a.h != nil {
		return taskAsk(ctx, a.h, q.key, q.method, params)
	}
	return a.x.Call(ctx, q.method, params)
}

func (a *asking) notify(raw []byte) error {
	if a.h != nil {
		return a.s.s.Notify(raw)
	}
	return a.x.Notify(raw)
}

// unanswered deals with an error instead of an answer: it has no place in
// inputResponses (B8.5).
func (a *asking) unanswered(q question, e *jsonrpc.Error) ([]byte, *dispatch.Outcome) {
	if a.life.Err() != nil {
		o := dispatch.Fail(dispatch.Explain(context.Cause(a.life)))
		return nil, &o
	}
	switch {
	case a.h == nil && e.Reason() == mcp.ReasonSessionEnded:
		// The session or the request has just ended: nobody has refused, and
		// the workload need not run once more for that (B8.9).
		o := dispatch.Fail(e)
		return nil, &o
	case unanswerable(e): // B8.6, B8.9
		a.s.p.lossy(LossyReverse)
		return nil, aborted(a.x.Msg.Method, "the workload asked for "+about(q.method)+", and this client cannot be asked")
	case q.method == mcp.MethodElicit && !broken.Rule("B8.5"):
		return cancelled, nil
	}
	return nil, aborted(a.x.Msg.Method, "the client refused "+about(q.method))
}

// urlOf is the address of an elicitation by URL, "" for everything else.
func urlOf(q question) string {
	mode, _ := strictjson.Get(q.params, "mode")
	if q.method != mcp.MethodElicit || string(mode) != `"url"` {
		return ""
	}
	raw, _ := strictjson.Get(q.params, "url")
	address, _ := strictjson.String(raw)
	return address
}

// again deals with an address that the user has just agreed to visit: nobody is
// asked twice. The user gets some time once; then the client is told to come
// back itself (B8.7, P28).
func (a *asking) again(ctx context.Context, address string) (again bool, answer []byte, over *dispatch.Outcome) {
	a.mu.Lock()
	v := a.visited[address]
	if v == nil {
		a.mu.Unlock()
		return false, nil, nil
	}
	v.times++
	times := v.times
	a.mu.Unlock()
	if times > 1 {
		if !a.s.profile.ElicitationIDs {
			return true, nil, aborted(a.x.Msg.Method, "the workload still waits for "+address+" to be visited")
		}
		o := dispatch.Fail(&jsonrpc.Error{
			Code:    mcp.CodeURLElicitation,
			Message: "the request needs an address to be visited first",
			Data:    append(append([]byte(`{"elicitations":[`), v.params...), "]}"...),
		})
		return true, nil, &o
	}
	if pause(ctx, visitPause) != nil {
		o := dispatch.Fail(dispatch.Explain(context.Cause(ctx)))
		return true, nil, &o
	}
	return true, []byte(`{"action":"accept"}`), nil
}

func (a *asking) visits(address string, v *visit) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.visited == nil {
		a.visited = map[string]*visit{}
	}
	a.visited[address] = v
}

// completed tells the client that what its user visited has been dealt with
// (W30.13).
func (a *asking) completed() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.s.profile.ElicitationIDs {
		return
	}
	for _, v := range a.visited {
		if a.notify(jsonrpc.EncodeNotification(mcp.NotifyElicitComplete, append(append([]byte(`{"elicitationId":`), v.id...), '}'))) != nil {
			a.s.p.lossy(LossyNotification)
		}
	}
}
