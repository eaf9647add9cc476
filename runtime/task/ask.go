package task

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Question is what running work asks its client.
type Question struct {
	// Name is the beginning of the key that the question gets.
	Name string
	// Method and Params are the request: elicitation/create,
	// sampling/createMessage or roots/list. Whether the client declared it is
	// the caller's to know.
	Method string
	Params []byte
}

// Ask puts questions to the client and waits for all answers, which come in
// the same order; the task is input_required meanwhile. An answer may be an
// error of the client. When ctx or the task ends first, the questions are taken
// back. Errors: ctx's cause, that of the task's context, ErrInputs, ErrStore.
func (h *Handle) Ask(ctx context.Context, questions ...Question) ([]jsonrpc.Outcome, error) {
	if len(questions) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(context.Canceled)
	defer context.AfterFunc(h.ctx, func() { cancel(context.Cause(h.ctx)) })()
	e, key := h.job.e, h.job.key
	keys, err := e.ask(ctx, key, questions)
	if err != nil {
		return nil, h.why(ctx, err)
	}
	var answers []jsonrpc.Outcome
	err = e.watch(ctx, key, func() (bool, error) {
		r, err := e.load(ctx, key)
		if err == nil && r.Status.Terminal() {
			err = ErrOver
		}
		if errors.Is(err, ErrStore) {
			return false, nil // people take longer than stores
		}
		if err != nil {
			return false, err
		}
		answers, err = answersOf(&r, keys)
		return answers != nil, err
	})
	if err != nil {
		err = h.why(ctx, err)
	}
	e.withdraw(h.ctx, key, keys)
	return answers, err
}

// why prefers the reason for which the task or the caller ended.
func (h *Handle) why(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	switch { // the supervisor is about to say so
	case errors.Is(err, ErrOver):
		return ErrCancelled
	case errors.Is(err, ErrUnknown):
		return ErrExpired
	}
	return err
}

// ask writes the questions into the record and returns their keys.
func (e *Engine) ask(ctx context.Context, key string, questions []Question) ([]string, error) {
	for _, q := range questions {
		if len(q.Params) > e.o.InputBytes {
			return nil, ErrInputs
		}
	}
	var keys []string
	_, err := e.change(ctx, key, func(r *Record) error {
		if len(r.Inputs)+len(questions) > e.o.Inputs {
			return ErrInputs
		}
		keys = nil
		r.Inputs = slices.Clone(r.Inputs)
		for _, q := range questions {
			r.Asked++
			in := Input{Key: inputKey(q, r.Asked), Method: q.Method, Params: q.Params}
			keys = append(keys, in.Key)
			r.Inputs = append(r.Inputs, in)
		}
		r.settle()
		return nil
	})
	return keys, err
}

// inputKey is unique for the task's whole life by its number (W36.12).
func inputKey(q Question, n uint64) string {
	name := q.Name
	if name == "" {
		name = "input"
	}
	if len(name) > maxName {
		name = cut(name[:maxName])
	}
	if broken.Rule("W36.12") {
		return name
	}
	return name + "-" + strconv.FormatUint(n, 10)
}

const maxName = 64

// answersOf returns the answers to the keys once all of them are in.
func answersOf(r *Record, keys []string) ([]jsonrpc.Outcome, error) {
	answers := make([]jsonrpc.Outcome, 0, len(keys))
	for _, key := range keys {
		i := slices.IndexFunc(r.Inputs, func(in Input) bool { return in.Key == key })
		switch {
		case i < 0:
			return nil, ErrOver
		case !r.Inputs[i].Answered():
			return nil, nil
		}
		answers = append(answers, jsonrpc.Outcome{Result: r.Inputs[i].Result, Err: r.Inputs[i].Err})
	}
	return answers, nil
}

// withdraw takes questions out of the record, answered or not. What cannot be
// taken out now goes with the task.
func (e *Engine) withdraw(ctx context.Context, key string, keys []string) {
	_, _ = e.change(context.WithoutCancel(ctx), key, func(r *Record) error {
		left := slices.DeleteFunc(slices.Clone(r.Inputs), func(in Input) bool { return slices.Contains(keys, in.Key) })
		if len(left) == len(r.Inputs) {
			return errUnchanged
		}
		r.Inputs = left
		r.settle()
		return nil
	})
}

// Answer gives answers by key, from tasks/update. Keys that are unknown,
// answered or taken back are ignored; what is left stays asked (W36.13). A
// terminal task takes none, without an error: who answers need not know that it
// is over. Errors: ErrUnknown, ErrInputs when an answer is too large, ErrStore.
func (e *Engine) Answer(ctx context.Context, owner Owner, id string, answers map[string]jsonrpc.Outcome) (Task, error) {
	for _, o := range answers {
		if len(o.Result) > e.o.InputBytes || errorSize(o.Err) > e.o.InputBytes {
			return Task{}, ErrInputs
		}
	}
	r, err := e.mutate(ctx, owner, id, func(r *Record) error { return r.answer(answers) })
	if err != nil && !errors.Is(err, ErrOver) {
		return Task{}, err
	}
	return taskOf(&r), nil
}

func (r *Record) answer(answers map[string]jsonrpc.Outcome) error {
	inputs := slices.Clone(r.Inputs)
	fits := false
	for i := range inputs {
		in := &inputs[i]
		o, given := answers[in.Key]
		if !given || in.Answered() || o.IsZero() {
			continue
		}
		in.Result, in.Err = o.Result, o.Err
		fits = true
	}
	if !fits {
		return errUnchanged
	}
	r.Inputs = inputs
	r.settle()
	return nil
}
