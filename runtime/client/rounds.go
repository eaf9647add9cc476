package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/internal/pause"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Bounds of one round of questions.
const (
	maxQuestions = 64
	maxParallel  = 8
	// maxEmpty bounds the rounds of a request that only ask to come back.
	maxEmpty = 6
)

// ErrInputRequired: the server asks something back that this client cannot, or
// would not, answer. Nothing was sent in reply (W29.9).
var ErrInputRequired = errors.New("client: the server asks for input")

// InputError says which question ended a request. It is an ErrInputRequired.
type InputError struct {
	// Key is the question's own key in inputRequests.
	Key string
	// Method is what was asked.
	Method string
	// Err is what the handler said.
	Err error
}

// Error implements error.
func (e *InputError) Error() string {
	return fmt.Sprintf("%v: %s (%s): %v", ErrInputRequired, e.Method, e.Key, e.Err)
}

// Unwrap gives ErrInputRequired and the cause.
func (e *InputError) Unwrap() []error { return []error{ErrInputRequired, e.Err} }

// converse makes a request and answers what the server asks on the way, until
// the result is there. A result of kind "task" is the caller's business.
func (c *Client) converse(ctx context.Context, r *request) (json.RawMessage, error) {
	raw, _, _, err := c.rounds(ctx, r)
	return raw, err
}

// rounds is converse that says what kind of result it is and who gave it.
func (c *Client) rounds(ctx context.Context, r *request) (raw json.RawMessage, kind string, v *conversation, err error) {
	asked := *r
	visits := visits{}
	empty := 0
	for range c.opts.MaxRounds {
		raw, v, err = c.send(ctx, r)
		if err != nil {
			again, err := c.afterError(ctx, r, v, visits, err)
			if err != nil {
				return nil, "", v, err
			}
			r = again
			continue
		}
		if kind, err = v.kind(r, raw); err != nil || kind != resultInput {
			return raw, kind, v, err
		}
		next, questions, err := c.reply(ctx, v, &asked, raw)
		if err != nil {
			return nil, "", v, err
		}
		if questions == 0 { // load shedding (W32.18)
			if empty++; empty > maxEmpty {
				break
			}
			if err := pause.For(ctx, backoff(100*time.Millisecond, 2*time.Second, empty)); err != nil {
				return nil, "", v, err
			}
		}
		next.tasks = r.tasks
		r = next
	}
	return nil, "", v, fmt.Errorf("%w again and again", ErrInputRequired)
}

// reply answers an InputRequiredResult: the same method and params, with the
// answers under their keys and the state as it came (W32.14). Only this round's
// answers travel (W32.15).
func (c *Client) reply(ctx context.Context, v *conversation, asked *request, raw []byte) (*request, int, error) {
	questions := member(raw, "inputRequests")
	state := member(raw, "requestState")
	if questions == nil && state == nil {
		return nil, 0, fmt.Errorf("%w, and names neither questions nor a state", ErrInputRequired) // W32.4
	}
	answers, n, err := c.answers(ctx, v, questions, nil)
	if err != nil {
		return nil, 0, err
	}
	var edits []strictjson.Edit
	if n > 0 {
		edits = append(edits, strictjson.Set(answers, "inputResponses"))
	}
	if state != nil && !broken.Rule("W32.14") {
		edits = append(edits, strictjson.Set(state, "requestState"))
	}
	next := *asked
	if len(edits) > 0 {
		params := asked.params
		if params == nil {
			params = []byte("{}")
		}
		if next.params, err = strictjson.Splice(params, edits...); err != nil {
			return nil, 0, err
		}
	}
	return &next, n, nil
}

// question is one entry of inputRequests.
type question struct {
	key, method string
	params      []byte
	answer      json.RawMessage
	err         error
}

// answers asks the handlers, some at a time, and returns an object with the
// answers under the questions' keys. skip leaves keys out; it may be nil.
func (c *Client) answers(ctx context.Context, v *conversation, questions []byte, skip func(key string) bool) (json.RawMessage, int, error) {
	var all []*question
	strictjson.Each(questions, func(name, value []byte) bool {
		if key := string(name); skip == nil || !skip(key) {
			all = append(all, &question{key: key, method: text(value, "method"), params: member(value, "params")})
		}
		return len(all) <= maxQuestions
	})
	if len(all) > maxQuestions {
		return nil, 0, fmt.Errorf("%w: more than %d questions at once", ErrInputRequired, maxQuestions)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wg sync.WaitGroup
	turns := make(chan struct{}, maxParallel)
	for _, q := range all {
		turns <- struct{}{}
		wg.Go(func() {
			defer func() { <-turns }()
			if q.err = context.Cause(ctx); q.err != nil {
				return
			}
			if !fence.Call(c.opts.Observer.Panicked, func() { q.answer, q.err = c.answerInput(ctx, v, q) }) {
				q.err = errPanicked
			}
			if q.err != nil {
				stop(q.err)
			}
		})
	}
	wg.Wait()
	var o object
	for _, q := range all {
		if q.err != nil {
			return nil, 0, &InputError{Key: q.key, Method: q.method, Err: context.Cause(ctx)}
		}
		o.set(q.key, q.answer)
	}
	return o.bytes(), len(all), nil
}

// errPanicked is a handler that panicked.
var errPanicked = errors.New("client: a handler panicked")

// answerInput serves one question; the three kinds are all there are (W32.5).
func (c *Client) answerInput(ctx context.Context, v *conversation, q *question) (json.RawMessage, error) {
	switch q.method {
	case mcp.MethodCreateMessage, mcp.MethodElicit, mcp.MethodRootsList:
		raw, err := c.answer(ctx, v, q.method, q.params)
		if rpc := rpcError(err); rpc != nil && rpc.Code == jsonrpc.CodeMethodNotFound {
			return nil, errUnasked
		}
		return raw, err
	}
	return nil, errUnasked
}

// afterError sees whether an error of the server's is a question in disguise:
// an address to visit first (W30.14), or the wish for a task (W36.4). The
// request was refused, so making it again runs nothing twice.
func (c *Client) afterError(ctx context.Context, r *request, v *conversation, visits visits, err error) (*request, error) {
	rpc := rpcError(err)
	switch {
	case rpc == nil || v == nil:
		return nil, err
	case rpc.Code == mcp.CodeURLElicitation && v.profile.Handshake && c.opts.Handlers.ElicitURL != nil:
		return r, c.visit(ctx, rpc, visits, err)
	case rpc.Code == mcp.CodeMissingCapability && r.method == mcp.MethodToolsCall && !r.tasks &&
		member(rpc.Data, "requiredCapabilities", "extensions", mcp.ExtensionTasks) != nil:
		next := *r
		next.tasks = true
		return &next, nil
	}
	return nil, err
}
