package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/internal/fence"
)

// flight is one call of the Source, with all who wait for it. It ends when
// nobody does any more.
type flight struct {
	need    Need
	done    chan struct{}
	stop    context.CancelCauseFunc
	waiters int // under Auth.mu
	token   Token
	err     error
}

// errDeserted is the cause that ends a flight without waiters.
var errDeserted = errors.New("token: nobody waits any more")

// maxFlights bounds how many calls of others one request sits through before its
// own.
const maxFlights = 4

// renew gets a token other than old. Only one call of the Source runs at a time:
// who finds one running waits for it, and takes its token if that will do.
func (a *Auth) renew(ctx context.Context, need Need, old string) (Token, error) {
	for range maxFlights {
		f, err := a.board(ctx, need, old)
		if err != nil {
			return Token{}, err
		}
		if f == nil {
			return a.now(), nil
		}
		var gone error
		select {
		case <-f.done:
		case <-ctx.Done():
			gone = context.Cause(ctx)
		}
		a.mu.Lock()
		if f.waiters--; f.waiters == 0 {
			f.stop(errDeserted)
		}
		enough := auth.Covers(f.need.Scopes, a.wanted)
		a.mu.Unlock()
		switch {
		case gone != nil:
			return Token{}, gone
		case errors.Is(f.err, errDeserted), f.err == nil && need.Reason == Scope && !enough:
			continue
		}
		return f.token, f.err
	}
	return Token{}, errors.New("token: others keep the source busy")
}

// board finds the flight to wait for; nil when there is another token already.
func (a *Auth) board(ctx context.Context, need Need, old string) (*flight, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	enough := need.Reason != Scope || auth.Covers(a.asked, a.wanted)
	if a.current.Value != "" && a.current.Value != old && !ends(a.current, 0) && enough {
		return nil, nil
	}
	f := a.running
	if f == nil {
		if err := a.trouble.err(); err != nil {
			return nil, err
		}
		f = a.start(ctx, need, old)
	}
	f.waiters++
	return f, nil
}

func (a *Auth) now() Token {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

// start calls the Source, in a context that does not end with the request that
// happened to come first. It is called with the lock.
func (a *Auth) start(ctx context.Context, need Need, old string) *flight {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	need.Resource, need.Scopes = a.resource.String(), a.wanted
	if need.Discover == nil {
		need.Discover = a.discoverer(auth.Challenge{})
	}
	f := &flight{need: need, done: make(chan struct{}), stop: stop}
	a.running = f
	go func() {
		fence.Call(
			func(v any, _ []byte) { f.err = fmt.Errorf("token: the source panicked: %v", v) },
			func() { f.token, f.err = a.o.Source.Token(ctx, need) },
		)
		if f.err == nil {
			f.err = checked(f.token)
		}
		if f.err == nil && f.token.Value == old && need.Reason != Expired {
			f.err = ErrNoOther
		}
		if cause := context.Cause(ctx); f.err != nil && cause != nil {
			f.err = cause
		}
		a.mu.Lock()
		a.running = nil
		if f.err == nil {
			a.current, a.asked, a.none = f.token, need.Scopes, false
		}
		if !errors.Is(f.err, errDeserted) {
			a.trouble.note(f.err)
		}
		a.mu.Unlock()
		stop(nil)
		if a.o.Observe != nil {
			a.o.Observe(Event{Reason: need.Reason, Scopes: need.Scopes, Err: f.err})
		}
		close(f.done)
	}()
	return f
}

// checked refuses what would be no token, and might be something else in a
// header.
func checked(t Token) error {
	if _, refusal := auth.ParseBearer("Bearer " + t.Value); refusal != nil {
		return errors.New("token: the source gave something that is no token")
	}
	if ends(t, 0) {
		return errors.New("token: the source gave a token that has ended")
	}
	return nil
}

// trouble keeps a Source that fails from being asked all the time. It is used
// with Auth's lock.
type trouble struct {
	last  error
	until time.Time
	wait  time.Duration
}

// err is the last failure while it is too early to try again.
func (t *trouble) err() error {
	if t.last != nil && time.Now().Before(t.until) {
		return t.last
	}
	return nil
}

// note takes down how a call went. ErrNone is no failure.
func (t *trouble) note(err error) {
	if err == nil || errors.Is(err, ErrNone) {
		*t = trouble{}
		return
	}
	t.wait = min(max(2*t.wait, firstBackoff), maxBackoff)
	t.last, t.until = err, time.Now().Add(t.wait)
}
