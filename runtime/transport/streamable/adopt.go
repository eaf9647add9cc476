package streamable

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
)

// storeTime bounds one question to the Store.
const storeTime = 2 * time.Second

// adoptions are sessions that are being taken up: one request does it, the
// others wait for that one.
type adoptions struct {
	mu      sync.Mutex
	running map[string]chan struct{} // by key; closed when it is over
}

// begin returns nil for who is the first, else what to wait for.
func (a *adoptions) begin(key string) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if running := a.running[key]; running != nil {
		return running
	}
	if a.running == nil {
		a.running = map[string]chan struct{}{}
	}
	a.running[key] = make(chan struct{})
	return nil
}

func (a *adoptions) end(key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	close(a.running[key])
	delete(a.running, key)
}

// adopt takes up a session that is not here but in the Store (D9). While nobody
// can say whether it is there, it may still be: a 404 would end it (P1).
func (q *request) adopt(id jsonrpc.ID) (*dispatch.Legacy, *refusal) {
	if q.s.Store == nil || !q.s.dispatcher.CanTakeUp() {
		return nil, sessionUnknown(id)
	}
	handle, err := q.s.Keys.OpenSession(q.field(headerSession), q.principal)
	if err != nil {
		return nil, sessionUnknown(id)
	}
	bytes := keyOf(handle.Random)
	key := string(bytes[:])
	if first := q.s.adoptions.begin(key); first != nil {
		select {
		case <-first:
		case <-q.r.Context().Done():
		}
	} else {
		defer q.s.adoptions.end(key)
		if _, there := q.lookup(); !there {
			if err := q.takeUp(key); err != nil {
				return nil, q.notTakenUp(id, err)
			}
		}
	}
	if l, ok := q.lookup(); ok {
		return l, nil
	}
	return nil, sessionUnknown(id)
}

func (q *request) notTakenUp(id jsonrpc.ID, err error) *refusal {
	switch {
	case errors.Is(err, errNoRecord):
		return sessionUnknown(id)
	case errors.Is(err, session.ErrStopped):
		return unavailable(hook.RejectDraining, "shutting down").about(id)
	case errors.Is(err, session.ErrFull), errors.Is(err, session.ErrPrincipal):
		return unavailable(hook.RejectSessionLimit, err.Error()).about(id)
	}
	return unavailable(hook.RejectSession, "the session cannot be taken up now").about(id)
}

var errNoRecord = errors.New("there is no such session")

// takeUp makes the session of a record, if there is one.
func (q *request) takeUp(key string) error {
	ctx, stop := context.WithTimeout(q.r.Context(), storeTime)
	defer stop()
	record, ok, err := q.s.Store.Get(ctx, key)
	if err != nil {
		if q.s.StoreFailed != nil && q.r.Context().Err() == nil {
			q.s.StoreFailed(err)
		}
		return fmt.Errorf("asking the store: %w", err)
	}
	profile, known := mcp.Lookup(record.Revision)
	if !ok || !known || !profile.Handshake || record.Principal != q.principal {
		return errNoRecord
	}
	s, err := q.s.sessions.New(session.Params{
		Key: key, Principal: record.Principal, Profile: profile,
		Capabilities: record.Capabilities, ClientInfo: record.ClientInfo, Began: record.Created,
	})
	if err != nil {
		return err
	}
	if s.Enter() {
		defer s.Leave() // what initialize did elsewhere
	}
	if _, err := q.s.dispatcher.TakeUp(q.r.Context(), s, q.identity); err != nil {
		s.End(hook.EndShutdown, dispatch.ErrSessionEnded) // the record stays
		return err
	}
	return nil
}
