package mcptest

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Stub is a dispatch.Server made of funcs, for tests of what stands in front of
// one. It keeps what reached it. The zero value accepts every session and
// answers every request with {"echo":"<method>"}.
type Stub struct {
	OnOpen   func(ctx context.Context, x *dispatch.Exchange, s dispatch.Session) dispatch.Outcome
	OnServe  func(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome
	OnNotify func(ctx context.Context, s dispatch.Session, n *jsonrpc.Message)

	mu       sync.Mutex
	sessions []dispatch.Session
	served   []string
	notified []string
	closed   []error
}

var _ dispatch.Server = (*Stub)(nil)

// Open implements dispatch.Server.
func (s *Stub) Open(ctx context.Context, x *dispatch.Exchange, session dispatch.Session) dispatch.Outcome {
	s.mu.Lock()
	s.sessions = append(s.sessions, session)
	s.mu.Unlock()
	if s.OnOpen != nil {
		return s.OnOpen(ctx, x, session)
	}
	return jsonrpc.Result([]byte(`{"protocolVersion":"` + session.Revision() + `","capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}`))
}

// Serve implements dispatch.Server.
func (s *Stub) Serve(ctx context.Context, x *dispatch.Exchange) dispatch.Outcome {
	s.mu.Lock()
	s.served = append(s.served, x.Msg.Method)
	s.mu.Unlock()
	if s.OnServe != nil {
		return s.OnServe(ctx, x)
	}
	return jsonrpc.Result([]byte(`{"echo":"` + x.Msg.Method + `"}`))
}

// Notify implements dispatch.Server.
func (s *Stub) Notify(ctx context.Context, session dispatch.Session, n *jsonrpc.Message) {
	s.mu.Lock()
	s.notified = append(s.notified, n.Method)
	s.mu.Unlock()
	if s.OnNotify != nil {
		s.OnNotify(ctx, session, n)
	}
}

// Closed implements dispatch.Server.
func (s *Stub) Closed(_ dispatch.Session, cause error) {
	s.mu.Lock()
	s.closed = append(s.closed, cause)
	s.mu.Unlock()
}

// Sessions returns the sessions that were opened.
func (s *Stub) Sessions() []dispatch.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]dispatch.Session(nil), s.sessions...)
}

// Served returns the methods of the requests that came.
func (s *Stub) Served() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.served...)
}

// Notified returns the methods of the notifications that came.
func (s *Stub) Notified() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.notified...)
}

// Closings returns the causes with which sessions ended.
func (s *Stub) Closings() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.closed...)
}
