package proxy

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// ownTask is what a flight keeps of the task that its call is at the workload.
type ownTask struct {
	// asksFirst: what the task asks at first is asked in rounds (W36.9).
	asksFirst bool
	// asTask: the call is made as one. What it asks before it is decided how
	// the client gets the result waits for that.
	asTask bool
	// made is closed when the workload has made a task of the call.
	made chan struct{}
	// decided is closed when it is known how the client gets the result: until
	// then the workload has no way to ask (B12.10), so that the task is there
	// before its questions are.
	decided chan struct{}
	once    sync.Once
	// promoting is held while the flight becomes a task of the client's.
	promoting sync.Mutex

	// Guarded by flight.mu.
	last theirs
}

// decide lets the result be asked for.
func (o *ownTask) decide() { o.once.Do(func() { close(o.decided) }) }

func newOwnTask(asksFirst, asTask bool) *ownTask {
	return &ownTask{asksFirst: asksFirst, asTask: asTask, made: make(chan struct{}), decided: make(chan struct{})}
}

// toolOf is what the workload's list says of the tool that a request calls; for
// a name that nobody was shown the list is asked for, once in a while.
func (p *Proxy) toolOf(ctx context.Context, x *dispatch.Exchange, lease upstream.Lease) (tool, bool) {
	raw, _ := strictjson.Get(x.Msg.Params, "name")
	name, isText := strictjson.String(raw)
	if x.Msg.Method != mcp.MethodToolsCall || !isText || !capTaskCalls.Declared(lease.Init().Capabilities) {
		return tool{}, false
	}
	t, known := p.tools.find(x.Principal(), name)
	if !known && p.tools.refresh(ctx, x.Principal(), false, func(ctx context.Context, page func([]byte)) bool {
		return p.listTools(ctx, lease.Leg, nil, page)
	}) {
		t, known = p.tools.find(x.Principal(), name)
	}
	return t, known
}

// asTask reports whether a call of the tool runs as a task of the workload's
// own: where it has to; and where it may, for a client that takes tasks
// (B12.7). What the client says of legacy tasks means nothing (W36.5).
func (p *Proxy) asTask(x *dispatch.Exchange, t tool) bool {
	return t.support == supportRequired || t.support == supportOptional && p.promotes(x)
}

// augment is how the flight's call is made.
func (f *flight) augment(life context.Context, d *desk, known, tasks bool) augmented {
	if f.own.asTask {
		d.makes(f)
	}
	return augmented{known: known, asTask: f.own.asTask, made: func(t theirs) func(theirs) {
		d.bind(f, t.id)
		f.theirsShown(t)
		close(f.own.made)
		select {
		case <-f.own.decided:
		case <-life.Done():
		}
		if !tasks {
			return nil // whoever waits for the result wants no more
		}
		return f.theirsShown
	}}
}

// theirsShown takes note of how the workload's task stands.
func (f *flight) theirsShown(t theirs) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.own.last
	f.own.last = t
	if f.task == nil {
		return
	}
	if t.message != "" && t.message != before.message {
		f.task.Status(t.message)
	}
	if t.poll > 0 && t.poll != before.poll {
		f.task.PollEvery(t.poll)
	}
}

// theirs is how the workload's task was seen last.
func (f *flight) theirs() theirs {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.own.last
}

// bind notes that a task of the workload is a flight's.
func (d *desk) bind(f *flight, id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tasks == nil {
		d.tasks = map[string]*flight{}
	}
	f.making, f.taskID = false, id
	d.tasks[id] = f
	d.tell()
}

// unbind forgets it; mu is held.
func (d *desk) unbind(f *flight) {
	if d.tasks[f.taskID] == f {
		delete(d.tasks, f.taskID)
	}
	f.making = false
}

// makes notes that the workload is about to make a task of a flight's call.
func (d *desk) makes(f *flight) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f.making = true
}

// byTask is the flight that a task of the workload is for, nil if none. While
// tasks are being made it waits a while for the one it does not know yet.
func (d *desk) byTask(ctx context.Context, id string) *flight {
	if id == "" {
		return nil
	}
	ctx, stop := context.WithTimeout(ctx, attributionWait)
	defer stop()
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		if f := d.tasks[id]; f != nil {
			return f
		}
		making := false
		for f := range d.flights {
			making = making || f.making
		}
		if !making || ctx.Err() != nil {
			return nil
		}
		changed := d.changed
		d.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		d.mu.Lock()
	}
}

// relatedTask is the id of the task that a message of the workload says it
// belongs to (B6.1); empty for none.
func relatedTask(m *jsonrpc.Message) string {
	raw, _ := strictjson.GetPath(m.Meta, mcp.MetaRelatedTask, "taskId")
	id, _ := strictjson.String(raw)
	return id
}

// taskShown is notifications/tasks/status of the workload.
func (d *desk) taskShown(in peer.Incoming) {
	t, ok := readTheirs(in.Msg.Params)
	d.mu.Lock()
	f := d.tasks[t.id]
	d.mu.Unlock()
	if !ok || f == nil {
		d.p.lossy(LossyNotification)
		return
	}
	f.theirsShown(t)
}

// cancelledThere reports whether the workload has cancelled the flight's task
// by itself.
func (f *flight) cancelledThere() bool { return f.theirs().status == task.Cancelled }
