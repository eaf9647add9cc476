package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// tasksRig is a server with an engine, called without any front, in virtual
// time.
type tasksRig struct {
	t      *testing.T
	s      *server.Server
	engine *task.Engine
}

const (
	withTasks    = `{"elicitation":{"form":{}},"sampling":{},"roots":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	withoutTasks = `{"elicitation":{},"tasks":{"requests":{}}}`
)

func tasksBubble(t *testing.T, o task.Options, f func(t *testing.T, r *tasksRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		engine, err := task.New(o)
		must(t, err)
		r := &tasksRig{t: t, engine: engine, s: server.New(server.Info{Name: "tasks", Version: "1"}, server.Options{Tasks: engine, PageSize: 2})}
		f(t, r)
		must(t, engine.Close(t.Context()))
		r.s.Close()
	})
}

func (r *tasksRig) tool(name string, support server.TaskSupport, h func(c *server.Context) (string, error)) {
	r.add(server.Tool{Name: name, TaskSupport: support}, h)
}

func (r *tasksRig) add(tool server.Tool, h func(c *server.Context) (string, error)) {
	r.t.Helper()
	must(r.t, r.s.AddTool(tool, func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		text, err := h(c)
		if err != nil {
			return nil, err
		}
		return server.TextResult(text), nil
	}))
}

// taskUser is one caller of a revision.
type taskUser struct {
	*tasksRig
	revision, principal, caps string
	session                   *session
	channel                   dispatch.Channel
	ctx                       context.Context // nil: the test's
}

func (r *tasksRig) legacy(principal string) *taskUser {
	return &taskUser{tasksRig: r, revision: mcp.Revision20251125, principal: principal, caps: withTasks, session: newSession(r.t, principal)}
}

func (r *tasksRig) modern(principal, caps string) *taskUser {
	return &taskUser{tasksRig: r, revision: mcp.Revision20260728, principal: principal, caps: caps}
}

// do serves one request; params may hold %s for args.
func (a *taskUser) do(method, params string, args ...any) jsonrpc.Outcome {
	a.t.Helper()
	m, err := jsonrpc.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":%s}`, method, fmt.Sprintf(params, args...)), strictjson.FromClient)
	must(a.t, err)
	profile, _ := mcp.Lookup(a.revision)
	req := dispatch.Request{Msg: m, Profile: profile, Principal: a.principal, ClientCapabilities: []byte(a.caps), Channel: a.channel}
	if a.session != nil {
		req.Session = a.session
	}
	ctx := a.ctx
	if ctx == nil {
		ctx = a.t.Context()
	}
	return a.s.Serve(ctx, dispatch.NewExchange(ctx, req))
}

func (a *taskUser) must(method, params string, args ...any) json.RawMessage {
	a.t.Helper()
	o := a.do(method, params, args...)
	if o.Err != nil {
		a.t.Fatalf("%s: %d %s %s", method, o.Err.Code, o.Err.Message, o.Err.Data)
	}
	return o.Result
}

// refused wants an error of this code whose data holds some text.
func (a *taskUser) refused(code int64, data, method, params string, args ...any) {
	a.t.Helper()
	o := a.do(method, params, args...)
	if o.Err == nil {
		a.t.Errorf("%s %s: got %s", method, params, o.Result)
	} else if o.Err.Code != code || !strings.Contains(string(o.Err.Data), data) {
		a.t.Errorf("%s %s: got %d %s %s", method, params, o.Err.Code, o.Err.Message, o.Err.Data)
	}
}

// start calls a tool as a task and returns the id.
func (a *taskUser) start(tool string) string {
	a.t.Helper()
	if a.revision == mcp.Revision20251125 {
		return field(a.must("tools/call", `{"name":%q,"task":{}}`, tool), "task", "taskId")
	}
	made := a.must("tools/call", `{"name":%q}`, tool)
	if field(made, "resultType") != "task" {
		a.t.Fatalf("got %s", made)
	}
	return field(made, "taskId")
}

func (a *taskUser) get(id string) json.RawMessage {
	a.t.Helper()
	synctest.Wait()
	return a.must("tasks/get", `{"taskId":%q}`, id)
}

func (a *taskUser) status(id, want string) json.RawMessage {
	a.t.Helper()
	got := a.get(id)
	if field(got, "status") != want {
		a.t.Errorf("want %s, got %s", want, got)
	}
	return got
}

// session is a legacy session that keeps what it is told.
type session struct {
	key, principal string
	ctx            context.Context
	end            context.CancelCauseFunc

	mu    sync.Mutex
	value any
	notes []message
}

var _ dispatch.Session = (*session)(nil)

func newSession(t *testing.T, principal string) *session {
	ctx, end := context.WithCancelCause(t.Context())
	return &session{key: "s-" + principal, principal: principal, ctx: ctx, end: end}
}

func (s *session) Key() string                { return s.key }
func (s *session) Principal() string          { return s.principal }
func (s *session) Revision() string           { return mcp.Revision20251125 }
func (s *session) ClientCapabilities() []byte { return []byte(withTasks) }
func (s *session) Value() any                 { s.mu.Lock(); defer s.mu.Unlock(); return s.value }
func (s *session) SetValue(v any)             { s.mu.Lock(); defer s.mu.Unlock(); s.value = v }
func (s *session) Listening() bool            { return true }
func (s *session) Close(cause error)          { s.end(cause) }
func (s *session) Retire(cause error)         { s.end(cause) }
func (s *session) Context() context.Context   { return s.ctx }

func (s *session) Call(context.Context, string, []byte) dispatch.Outcome {
	return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInternal, "not here"))
}

func (s *session) Notify(raw []byte) error {
	if s.ctx.Err() != nil {
		return errors.New("the session has ended")
	}
	var m message
	if err := json.Unmarshal(raw, &m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, m)
	return nil
}

func (s *session) told() []message {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]message(nil), s.notes...)
}

// line is a channel to a client that is asked.
type line struct {
	mu    sync.Mutex
	asked []message
	say   func(method string) jsonrpc.Outcome // nil: waits for the end
}

func (l *line) Notify([]byte) error { return nil }

func (l *line) Call(ctx context.Context, method string, params []byte) jsonrpc.Outcome {
	l.mu.Lock()
	l.asked = append(l.asked, message{Method: method, Params: params})
	l.mu.Unlock()
	if l.say != nil {
		return l.say(method)
	}
	<-ctx.Done()
	return jsonrpc.Fail(dispatch.Explain(context.Cause(ctx)))
}

func (l *line) questions() []message {
	synctest.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]message(nil), l.asked...)
}

func accepts(string) jsonrpc.Outcome {
	return jsonrpc.Result([]byte(`{"action":"accept","content":{"sure":true}}`))
}

// confirms is a tool that asks before it answers.
func confirms(c *server.Context) (string, error) {
	r, err := c.Elicit("sure", server.ElicitParams{Message: "sure?", Schema: json.RawMessage(`{"type":"object","properties":{"sure":{"type":"boolean"}}}`)})
	if err != nil {
		return "", err
	}
	return string(r.Action), nil
}

// sleeps is a tool that waits for its end.
func sleeps(c *server.Context) (string, error) {
	<-c.Done()
	return "", context.Cause(c)
}

func greets(*server.Context) (string, error) { return "hello", nil }
