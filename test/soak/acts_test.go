package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
)

// dialect is how a workload wants to be called.
type dialect struct {
	work      string // the tool that takes its time
	arguments func(token string, ms int) map[string]any
	// full: it has resources, logs and tasks too.
	full bool
}

// dialects are those of the two workloads.
func dialects() (test, soak dialect) {
	test = dialect{work: "progress", arguments: func(token string, ms int) map[string]any {
		return map[string]any{"text": token, "n": 4, "ms": ms / 4}
	}}
	soak = dialect{work: "work", full: true, arguments: func(token string, ms int) map[string]any {
		return map[string]any{"token": token, "ms": ms}
	}}
	return test, soak
}

// worker does one thing after another in a life.
type worker struct {
	*soaker
	life   life
	client *client.Client
	tap    *tap
	calls  *atomic.Int64
	rand   *rand.Rand
}

// act is something to do, and how often.
type act struct {
	name   string
	weight int
	do     func(w *worker, ctx context.Context) error
	full   bool // for full dialects only
}

var acts = []act{
	{"echo", 30, (*worker).echo, false},
	{"progress", 20, (*worker).progress, false},
	{"cancel", 8, (*worker).cancel, false},
	{"elicit", 12, (*worker).elicit, false},
	{"sample", 10, (*worker).sample, false},
	{"list", 5, (*worker).list, false},
	{"cut", 5, (*worker).cut, false},
	{"read", 5, (*worker).read, true},
	{"subscribe", 5, (*worker).subscribe, true},
	{"task", 5, (*worker).task, true},
	{"drop task", 2, (*worker).dropTask, true},
}

// errNotOffered: this client cannot do that.
var errNotOffered = errors.New("not offered")

func (w *worker) work(ctx context.Context) {
	total := 0
	for _, a := range acts {
		total += a.weight
	}
	for range leastActs + w.rand.IntN(mostActs-leastActs) {
		pause(ctx, time.Duration(w.rand.Int64N(int64(mostPause))))
		select {
		case <-w.client.Done():
			w.tally.add("ended", reason(w.client.Err()))
			return
		default:
		}
		if ctx.Err() != nil {
			return
		}
		n := w.rand.IntN(total)
		for _, a := range acts {
			if n -= a.weight; n < 0 {
				if !a.full || w.dialect.full {
					w.do(ctx, a)
				}
				break
			}
		}
	}
}

// do acts, and finds fault with what takes for ever: every request has an end,
// unless an answer that its workload waits for did not arrive.
func (w *worker) do(ctx context.Context, a act) {
	bounded, stop := context.WithTimeout(context.WithoutCancel(ctx), actTime)
	defer stop()
	err := a.do(w, bounded)
	if errors.Is(err, errNotOffered) {
		return
	}
	if w.tally.add(a.name, reason(err)); bounded.Err() != nil && w.tap.unheard.Load() == 0 {
		w.faults.add("life %d (%s): %s got no answer within %v: %v", w.life, w.kind, a.name, actTime, err)
	}
}

func (w *worker) token() string { return w.life.token(w.calls.Add(1)) }

// call calls a tool with a token, which the answer must have.
func (w *worker) call(ctx context.Context, tool, token string, ms int, options ...client.CallOption) error {
	r, err := w.client.CallTool(ctx, tool, w.dialect.arguments(token, ms), options...)
	if err != nil {
		return err
	}
	return w.answered(tool, token, r)
}

// answered looks at a tool's answer.
func (w *worker) answered(tool, token string, r *client.ToolResult) error {
	if r.IsError {
		return errors.New("tool: " + tokens.ReplaceAllString(r.Text(), "TOKEN"))
	}
	if !strings.Contains(string(r.Raw), token) {
		w.faults.add("life %d (%s): %s with %s was answered %.300s", w.life, w.kind, tool, token, r.Raw)
	}
	w.tally.answered(tool, token)
	return nil
}

func (w *worker) echo(ctx context.Context) error { return w.call(ctx, "echo", w.token(), 0) }

func (w *worker) progress(ctx context.Context) error {
	token, last := w.token(), 0.0
	err := w.call(ctx, w.dialect.work, token, 20+w.rand.IntN(800), client.LogAt("info"), client.OnProgress(func(p client.Progress) {
		if p.Progress <= last || p.Message != "" && !strings.Contains(p.Message, token) {
			w.faults.add("life %d (%s): progress of %s after %v is %s", w.life, w.kind, token, last, p.Raw)
		}
		last = p.Progress
		w.tally.add("told", "")
	}))
	return err
}

// cancel gives a call up.
func (w *worker) cancel(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, time.Duration(w.rand.IntN(600))*time.Millisecond)
	defer stop()
	err := w.call(ctx, w.dialect.work, w.token(), 1000)
	if err != nil && ctx.Err() != nil {
		return nil
	}
	return err
}

func (w *worker) elicit(ctx context.Context) error {
	if w.kind.revision < "2025-06-18" {
		return errNotOffered
	}
	return w.call(ctx, "elicit", w.token(), 0)
}

func (w *worker) sample(ctx context.Context) error { return w.call(ctx, "sample", w.token(), 0) }

func (w *worker) list(ctx context.Context) error {
	_, err := w.client.ListTools(ctx)
	return err
}

// cut breaks something that is coming; what was being done shows it.
func (w *worker) cut(context.Context) error {
	if !w.tap.cut(w.rand) {
		return errNotOffered
	}
	return nil
}

func (w *worker) uri() string { return "soak://token/" + w.token() }

func (w *worker) read(ctx context.Context) error {
	uri := w.uri()
	r, err := w.client.ReadResource(ctx, uri)
	if err == nil && (len(r.Contents) != 1 || !strings.HasSuffix(uri, r.Contents[0].Text)) {
		w.faults.add("life %d (%s): %s is %.300s", w.life, w.kind, uri, r.Raw)
	}
	return err
}

// subscribe changes a resource that it watches. Where processes come and go the
// change may be lost; that of another must never come.
func (w *worker) subscribe(ctx context.Context) error {
	uri, heard := w.uri(), make(chan struct{}, 1)
	s, err := w.client.Listen(ctx, client.Filter{URIs: []string{uri}}, func(n client.Notification) {
		if !n.Missed && !strings.Contains(string(n.Params), uri) {
			w.faults.add("life %d (%s): listening to %s told %s", w.life, w.kind, uri, n.Params)
		}
		select {
		case heard <- struct{}{}:
		default: // one is enough
		}
	})
	if err != nil {
		return err
	}
	defer s.Close()
	token := w.token()
	r, err := w.client.CallTool(ctx, "touch", map[string]any{"token": token, "uri": uri})
	if err != nil {
		return err
	}
	if err := w.answered("touch", token, r); err != nil {
		return err
	}
	select {
	case <-heard:
		return nil
	case <-s.Done():
		return errors.New("the subscription ended")
	case <-time.After(2 * time.Second):
		return errors.New("the change was not told")
	}
}

func (w *worker) start(ctx context.Context, token string) (*client.Task, error) {
	return w.client.StartTool(ctx, "job", w.dialect.arguments(token, 50+w.rand.IntN(600)), client.TaskOptions{TTL: 10 * time.Second})
}

func (w *worker) task(ctx context.Context) error {
	token := w.token()
	t, err := w.start(ctx, token)
	if err != nil {
		return err
	}
	r, err := t.Wait(ctx)
	if err != nil {
		return err
	}
	return w.answered("job", token, r)
}

// dropTask starts a task and cancels it.
func (w *worker) dropTask(ctx context.Context) error {
	t, err := w.start(ctx, w.token())
	if err != nil || t.ID() == "" {
		return err
	}
	return t.Cancel(ctx)
}
