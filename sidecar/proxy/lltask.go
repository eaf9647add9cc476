package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// sessionTask stands for a call on a session's leg that runs as a task: what
// belongs to it has no request of the client to go to.
type sessionTask struct {
	session *session
	x       *dispatch.Exchange // of the request that has become the task
	h       *task.Handle
}

// taskOf is the task that a message of the workload belongs to, nil if none.
func taskOf(in peer.Incoming) *sessionTask {
	if in.Call == nil {
		return nil
	}
	t, _ := in.Call.Value().(*sessionTask)
	return t
}

// ask puts a question of the workload to the client: on the stream of a
// tasks/result (B12.4). What the client did not declare is refused, as on any
// other request.
func (t *sessionTask) ask(ctx context.Context, method string, params []byte) dispatch.Outcome {
	if bad := dispatch.MayCall(t.x.Profile(), t.x.ClientCapabilities(), method, params); bad != nil {
		t.session.p.lossy(LossyReverse)
		return dispatch.Fail(bad)
	}
	return taskAsk(ctx, t.h, "input", method, params)
}

// tell passes progress and logs on.
func (t *sessionTask) tell(m *jsonrpc.Message, raw []byte) {
	if tellOfTask(t.session.s, t.h, m, raw) != nil {
		t.session.p.lossy(LossyNotification)
	}
}

// augment is how a call of the session is made: a tool that only runs as a task
// is called as one, whatever the client knows of tasks (B12.8).
func (s *session) augment(r peer.Request) (a augmented) {
	raw, _ := strictjson.Get(r.Params, "name")
	name, _ := strictjson.String(raw)
	t, known := s.p.tools.find(s.s.Principal(), name)
	a = augmented{known: known, asTask: t.support == supportRequired}
	if own, ok := r.Value.(*sessionTask); ok {
		a.made = func(t theirs) func(theirs) {
			shown := shownTo(own.h)
			shown(t)
			return shown
		}
	}
	return a
}
