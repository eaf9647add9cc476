package session

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
)

// storeTime bounds each conversation with a Store.
const storeTime = 2 * time.Second

// keeping is what a session knows about its record in a Store; sessions of a
// Registry without one have none.
type keeping struct {
	next time.Time // when the record needs a Touch; under Session.mu
}

// keep puts the record of a new session. A store that cannot be asked costs the
// session its adoption and nothing else.
func (r *Registry) keep(s *Session) {
	if r.Store == nil {
		return
	}
	ttl := r.idle()
	s.kept = &keeping{next: s.born.Add(ttl / 4)}
	ctx, stop := context.WithTimeout(context.Background(), storeTime)
	defer stop()
	r.stored(r.Store.Put(ctx, s.params.Key, Record{
		Revision: s.Revision(), Principal: s.params.Principal,
		Capabilities: s.params.Capabilities, ClientInfo: s.params.ClientInfo, Created: s.params.Began,
	}, ttl))
}

func (r *Registry) stored(err error) {
	if err != nil && r.StoreFailed != nil {
		r.StoreFailed(err)
	}
}

// later has a conversation with the Store that nobody waits for.
func (r *Registry) later(f func(context.Context) error) {
	go fence.Call(r.Observer.Panic, func() {
		ctx, stop := context.WithTimeout(context.Background(), storeTime)
		defer stop()
		r.stored(f(ctx))
	})
}

// prolong gives the record of a session in use more time, now and then; s.mu is
// held.
func (s *Session) prolong(now time.Time) {
	if s.kept == nil || now.Before(s.kept.next) {
		return
	}
	ttl := s.registry.idle()
	s.kept.next = now.Add(ttl / 4)
	s.registry.later(func(ctx context.Context) error {
		_, err := s.registry.Store.Touch(ctx, s.params.Key, ttl)
		return err
	})
}

// release removes the record of a session that has ended for good. One that
// ends with its process is left for another to adopt.
func (s *Session) release(reason hook.EndReason) {
	if s.kept == nil || reason == hook.EndShutdown {
		return
	}
	s.registry.later(func(ctx context.Context) error { return s.registry.Store.Delete(ctx, s.params.Key) })
}
