package session_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/session"
	"github.com/fairlead-dev/fairlead/runtime/session/sessiontest"
	"github.com/fairlead-dev/fairlead/runtime/stream"
)

func TestMemory(t *testing.T) {
	sessiontest.Run(t, synctest.Test, func(*testing.T) sessiontest.Subject {
		return sessiontest.Subject{Store: &session.Memory{Max: 16}, Advance: time.Sleep, Max: 16}
	})
}

// What a registry tells its store, and when.
func TestTheStoreIsToldOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &session.Memory{}
		r := &session.Registry{Streams: &stream.Store{}, Store: store, Idle: func() time.Duration { return time.Hour }}
		has := func(key string) bool {
			t.Helper()
			synctest.Wait()
			_, ok, err := store.Get(t.Context(), key)
			if err != nil {
				t.Fatal(err)
			}
			return ok
		}
		open := func(key string) *session.Session {
			t.Helper()
			p, _ := mcp.Lookup("2025-06-18")
			s, err := r.New(session.Params{Key: key, Principal: "ann", Profile: p, Capabilities: []byte(`{"roots":{}}`)})
			if err != nil {
				t.Fatal(err)
			}
			s.Enter()
			return s
		}
		a, b := open("a"), open("b")
		if rec, _, _ := store.Get(t.Context(), "a"); rec.Principal != "ann" || rec.Revision != "2025-06-18" || string(rec.Capabilities) != `{"roots":{}}` || !rec.Created.Equal(time.Now()) {
			t.Errorf("%+v", rec)
		}
		for range 10 { // in use for long
			time.Sleep(30 * time.Minute)
			a.Enter()
			a.Leave()
			a.Leave()
			a.Enter()
		}
		if !has("a") || has("b") {
			t.Error("a is in use and b's time has passed")
		}
		a.End(hook.EndDeleted, errors.New("deleted"))
		if has("a") {
			t.Error("an ended session is still there")
		}
		c := open("c")
		c.End(hook.EndShutdown, errors.New("stopped"))
		if !has("c") {
			t.Error("what ends with its process is for another to adopt")
		}
		b.End(hook.EndServer, errors.New("over"))
	})
}

// broken is a store that nobody reaches.
type broken struct{ session.Store }

func (broken) Put(ctx context.Context, _ string, _ session.Record, _ time.Duration) error {
	<-ctx.Done()
	return ctx.Err()
}
func (broken) Delete(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }

func TestSessionsGoOnWithoutTheirStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var failed atomic.Int64
		r := &session.Registry{Streams: &stream.Store{}, Store: broken{}, StoreFailed: func(error) { failed.Add(1) }}
		began := time.Now()
		s := start(t, r, "k", "")
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("waited %s", took)
		}
		s.End(hook.EndServer, errors.New("over"))
		time.Sleep(time.Minute)
		if failed.Load() != 2 {
			t.Errorf("%d failures were told", failed.Load())
		}
	})
}

// Who hears of a store's failure may panic, and so may the store, where nobody
// waits for it: sessions go on.
func TestAPanicAboutTheStoreEndsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var panics, told atomic.Int64
		r := &session.Registry{
			Streams: &stream.Store{}, Store: broken{},
			StoreFailed: func(error) {
				if told.Add(1) > 1 { // the first time a caller waits
					panic("told")
				}
			},
			Observer: &hook.Observer{Panicked: func(any, []byte) { panics.Add(1) }},
		}
		s := start(t, r, "k", "")
		s.End(hook.EndServer, errors.New("over"))
		time.Sleep(time.Minute)
		if panics.Load() != 1 {
			t.Errorf("%d panics", panics.Load())
		}
	})
}
