package park

import (
	"crypto/sha256"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// ErrClosed ends the calls of a Store that is closed.
var ErrClosed = errors.New("shutting down")

// Store keeps the exchanges of one process. All methods may be called
// concurrently. Whoever makes it calls Close.
type Store struct {
	cfg   Config
	epoch uint64

	mu      sync.Mutex
	parked  map[seal.Random]*Exchange
	by      map[string]int // owner → exchanges that wait for their clients
	waiting int            // all of those
	fetched []*Exchange    // have been answered, and may be asked again (P20); oldest first
	closed  bool
}

// New makes a Store.
func New(cfg Config) *Store {
	cfg.Limits = cfg.Limits.filled()
	return &Store{cfg: cfg, epoch: uint64(time.Now().UnixNano()), parked: map[seal.Random]*Exchange{}, by: map[string]int{}}
}

// Resumed is what a state leads to: a claim, or the round of a request that is
// to be made again, or the pod that has the exchange.
type Resumed struct {
	Claim *Claim
	// Round is set for states of Repeat.
	Round int
	// Elsewhere names the pod that keeps the exchange, if that is another one
	// or an earlier life of this one: this process cannot go on with it.
	Elsewhere string
	Lost      bool
}

// Resume goes on with an exchange: digest names the request as it did when the
// state was made. may is asked, for every question of a later round, whether
// this request's client takes it. The error is Refused for every state that
// cannot be used, and -32602 for answers of the wrong shape, which leave the
// round as it is (B7.4–B7.7).
func (s *Store) Resume(text string, digest []byte, answers Answers, may May) (Resumed, *jsonrpc.Error) {
	st, ok := s.open(text, digest)
	switch {
	case !ok:
		return Resumed{}, Refused()
	case st.kind == kindRepeat:
		return Resumed{Round: st.round}, nil
	case st.kind != kindExchange:
		return Resumed{}, Refused()
	case st.pod != s.cfg.Pod || st.epoch != s.epoch:
		return Resumed{Elsewhere: st.pod, Lost: st.pod == s.cfg.Pod}, nil
	}
	s.mu.Lock()
	e := s.parked[st.id]
	s.mu.Unlock()
	if e == nil {
		return Resumed{}, Refused()
	}
	c, bad := e.claim(st.round, fingerprint(answers), answers, may)
	return Resumed{Claim: c}, bad
}

// fingerprint names answers, so that the same retry is known again (P20).
func fingerprint(a Answers) [digestSize]byte {
	if !a.given {
		return sha256.Sum256(nil)
	}
	return sha256.Sum256(canonical(a.raw))
}

// keep takes an exchange in that is about to be parked.
func (s *Store) keep(e *Exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.cfg.Limits
	if s.closed || s.waiting >= l.Total || s.by[e.begin.Owner] >= l.PerOwner {
		return false
	}
	s.parked[e.id] = e
	s.count(e, +1)
	return true
}

// count takes note that one begins (+1) or ceases (-1) to wait for its client;
// mu is held.
func (s *Store) count(e *Exchange, delta int) {
	s.waiting += delta
	if s.by[e.begin.Owner] += delta; s.by[e.begin.Owner] <= 0 {
		delete(s.by, e.begin.Owner)
	}
	if s.cfg.Hooks.Parked != nil {
		s.cfg.Hooks.Parked(delta)
	}
}

// done notes that the answer of one has been fetched. It takes no room from
// those that wait (B7.16): of an owner's the newest are kept, as many as may
// wait, and so of all.
func (s *Store) done(e *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parked[e.id] != e {
		return
	}
	s.count(e, -1)
	s.fetched = append(s.fetched, e)
	own := 0
	for _, other := range s.fetched {
		if other.begin.Owner == e.begin.Owner {
			own++
		}
	}
	for i, other := range s.fetched {
		if len(s.fetched) > s.cfg.Limits.Total || own > s.cfg.Limits.PerOwner && other.begin.Owner == e.begin.Owner {
			delete(s.parked, other.id)
			s.fetched = slices.Delete(s.fetched, i, i+1)
			return
		}
	}
}

// drop forgets one.
func (s *Store) drop(e *Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parked[e.id] != e {
		return
	}
	delete(s.parked, e.id)
	if i := slices.Index(s.fetched, e); i >= 0 {
		s.fetched = slices.Delete(s.fetched, i, i+1)
		return
	}
	s.count(e, -1)
}

func (s *Store) ended(why End) {
	if s.cfg.Hooks.Ended != nil {
		s.cfg.Hooks.Ended(why)
	}
}

// Len is how many exchanges are kept.
func (s *Store) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.parked)
}

// Close ends every exchange that waits for its client, as if the client had
// not come back, and keeps no new ones. It does not wait.
func (s *Store) Close() {
	s.mu.Lock()
	s.closed = true
	all := make([]*Exchange, 0, len(s.parked))
	for _, e := range s.parked {
		all = append(all, e)
	}
	s.mu.Unlock()
	for _, e := range all {
		e.abandon(EndClosed, ErrClosed)
	}
}
