package server

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// method serves one request method; what it returns is completed for the
// revision afterwards.
type method struct {
	// needs is the capability without which the method is unknown (W5.6).
	needs mcp.Capability
	serve func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome
}

func (s *Server) table() map[string]method {
	t := map[string]method{
		mcp.MethodDiscover:      {serve: s.discover},
		mcp.MethodToolsList:     {needs: mcp.CapTools, serve: s.listTools},
		mcp.MethodToolsCall:     {needs: mcp.CapTools, serve: s.callTool},
		mcp.MethodPromptsList:   {needs: mcp.CapPrompts, serve: s.listPrompts},
		mcp.MethodPromptsGet:    {needs: mcp.CapPrompts, serve: s.getPrompt},
		mcp.MethodResourcesList: {needs: mcp.CapResources, serve: s.listResources},
		mcp.MethodTemplatesList: {needs: mcp.CapResources, serve: s.listTemplates},
		mcp.MethodResourcesRead: {needs: mcp.CapResources, serve: s.readResource},
		mcp.MethodSubscribe:     {needs: mcp.CapSubscribe, serve: s.subscribe},
		mcp.MethodUnsubscribe:   {needs: mcp.CapSubscribe, serve: s.unsubscribe},
		mcp.MethodComplete:      {needs: mcp.CapCompletions, serve: s.complete},
		mcp.MethodSetLevel:      {needs: mcp.CapLogging, serve: s.setLevel},
		mcp.MethodListen:        {serve: s.listen},
	}
	for _, name := range []string{mcp.MethodTasksGet, mcp.MethodTasksList, mcp.MethodTasksResult, mcp.MethodTasksCancel, mcp.MethodTasksUpdate} {
		t[name] = method{needs: mcp.CapTasks, serve: s.serveTasks}
	}
	return t
}

// Serve implements dispatch.Server.
func (s *Server) Serve(ctx context.Context, x *dispatch.Exchange) (o dispatch.Outcome) {
	defer s.guard(&o)
	name := x.Msg.Method
	if own := s.raw.get(name); own != nil {
		return s.finish(x, own.handler(ctx, x))
	}
	m, known := s.methods[name]
	if _, has := x.Profile().Method(name); !known || !has || !s.offers(m.needs) {
		return unknownMethod()
	}
	if level := x.LogLevel(); level != "" && !mcp.LogLevel(level) {
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "there is no such log level")) // W23.8
	}
	return s.finish(x, m.serve(ctx, x))
}

func unknownMethod() dispatch.Outcome {
	return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
}

// Notify implements dispatch.Server: notifications go to who asked for them
// with OnNotification.
func (s *Server) Notify(ctx context.Context, session dispatch.Session, n *jsonrpc.Message) {
	if e := s.notices.get(n.Method); e != nil {
		var o dispatch.Outcome
		defer s.guard(&o)
		e.handler(ctx, session, n.Params)
	}
}

type noticeEntry struct {
	handler func(ctx context.Context, session dispatch.Session, params json.RawMessage)
}

// OnNotification takes a notification of legacy clients, such as
// notifications/roots/list_changed. What the front consumes itself
// (initialized, cancelled) does not come here. The handler must be
// quick: the client's next message may wait for it. It returns ErrDuplicate for
// a second handler.
func (s *Server) OnNotification(method string, h func(ctx context.Context, session dispatch.Session, params json.RawMessage)) error {
	return s.notices.add(method, &noticeEntry{handler: h})
}

// Closed implements dispatch.Server: the one place where everything that a
// session had here ends.
func (s *Server) Closed(session dispatch.Session, cause error) {
	s.watchers.end(session)
	if s.opt.Closed != nil {
		s.fenced(func() { s.opt.Closed(session, cause) })
	}
}

// guard turns a panic of a handler into an internal error.
func (s *Server) guard(o *dispatch.Outcome) {
	if v := recover(); v != nil {
		s.panicked(v, debug.Stack())
		*o = dispatch.Fail(internal())
	}
}

// fenced runs what the program brought along and answers to nobody.
func (s *Server) fenced(f func()) { fence.Call(s.panicked, f) }

func (s *Server) panicked(v any, stack []byte) {
	s.opt.Observer.Panic(v, stack)
	s.opt.Logger.Error("a handler panicked", "panic", fmt.Sprint(v), "stack", string(stack))
}

type rawEntry struct {
	handler dispatch.Handler
}

// Handle serves a method by hand, also one that the server serves by itself
// and one that no revision knows. The handler gets the exchange as it came; its
// result is completed with what every result of the revision carries
// (resultType, serverInfo, caching hints), unless it has them. It returns
// ErrDuplicate for a second handler, and refuses initialize and ping, which
// belong to the front.
func (s *Server) Handle(method string, h dispatch.Handler) error {
	switch method {
	case "", mcp.MethodInitialize, mcp.MethodPing:
		return fmt.Errorf("method %q: %w", method, ErrName)
	}
	return s.raw.add(method, &rawEntry{handler: h})
}
