package park

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// settle is how long the workload has to take its answers before it is told
// that nobody waits for its own (B7.12: first the one, then the other).
const settle = 100 * time.Millisecond

// Causes with which the workload's call is cancelled.
var (
	ErrAbandoned = errors.New("the client did not come back")
	errGone      = errors.New("the client has gone")
)

// May says why a question may not be put to the client, nil if it may.
type May func(method string, params []byte) *jsonrpc.Error

// Begin describes an exchange.
type Begin struct {
	// Owner is whom limits count it for.
	Owner string
	// Digest names the client's request.
	Digest []byte
	// Answers came with the first request: they are for questions whose key the
	// workload chose itself, and for no others (P21).
	Answers Answers
	// May is that of the first request.
	May May
	// Cancel ends the workload's call; it does not block.
	Cancel func(cause error)
	// Value is the caller's own.
	Value any
}

// Final is how the workload's call ended.
type Final struct {
	Answer peer.Answer
	Err    error
}

// Exchange is one call of the workload whose client may have to come back. All
// methods may be called concurrently.
type Exchange struct {
	s     *Store
	begin Begin
	id    seal.Random
	born  time.Time

	mu     sync.Mutex
	now    *Claim // whose turn it is, or was last
	round  int    // the last that the client was given
	minted map[string]int
	open   []*open
	preset map[string][]byte
	final  *Final
	ask    Ask  // set while what is asked goes another way (Claim.Detach)
	over   bool // nothing can be asked any more
	kept   bool // in the store
	expiry *time.Timer
	gather *time.Timer
}

// Begin begins one. Its first claim is Exchange.First; the caller calls Finish
// when the workload's call has ended.
func (s *Store) Begin(b Begin) *Exchange {
	e := &Exchange{s: s, begin: b, id: seal.NewRandom(), born: time.Now(), minted: map[string]int{}, preset: b.Answers.by}
	e.now = &Claim{e: e, may: b.May, done: make(chan struct{})}
	return e
}

// Value is Begin.Value.
func (e *Exchange) Value() any { return e.begin.Value }

// Fail ends the exchange with an error for the client and none for the
// workload, whose call is cancelled (B7.15).
func (e *Exchange) Fail(bad *jsonrpc.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.over && e.final == nil {
		e.end(EndCapability, bad, bad)
	}
}

// First is the claim of the request that began the exchange.
func (e *Exchange) First() *Claim {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

// Parked reports whether no request of the client waits for the exchange.
func (e *Exchange) Parked() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now.resolved()
}

// Ask puts a question to the client and waits for its answer, for as long as
// that takes. When ctx ends first the question is taken back.
func (e *Exchange) Ask(ctx context.Context, q Question) ([]byte, *jsonrpc.Error) {
	e.mu.Lock()
	if e.over || e.final != nil {
		e.mu.Unlock()
		return Abandoned(q.Method)
	}
	if ask := e.ask; ask != nil {
		e.mu.Unlock()
		return ask(ctx, q)
	}
	o := &open{Asked: Asked{Key: e.keyFor(q), Question: q}, answer: make(chan answered, 1)}
	if answer, ok := e.preset[o.Key]; ok && o.Key == q.Hint && fits(q.Method, answer) {
		delete(e.preset, o.Key)
		e.mu.Unlock()
		return answer, nil
	}
	e.open = append(e.open, o)
	if !e.now.resolved() {
		e.collect()
	}
	e.mu.Unlock()
	select {
	case a := <-o.answer:
		return a.result, a.err
	case <-ctx.Done():
		e.withdraw(o)
		select {
		case a := <-o.answer: // it came at the same moment
			return a.result, a.err
		default:
		}
		a := abandoned(q.Method)
		return a.result, a.err
	}
}

// keyFor is the workload's own key where it is usable, else one that no other
// question of the exchange has had (B7.2). mu is held.
func (e *Exchange) keyFor(q Question) string {
	if q.Hint != "" && len(q.Hint) <= maxKey && !e.taken(q.Hint) {
		return q.Hint
	}
	for {
		k := Kind(q.Method)
		e.minted[k]++
		if name := key(q.Method, e.minted[k]); !e.taken(name) {
			return name
		}
	}
}

func (e *Exchange) taken(key string) bool {
	for _, o := range e.open {
		if o.Key == key {
			return true
		}
	}
	return false
}

// collect waits a little for further questions of the same round (B7.1); mu is
// held.
func (e *Exchange) collect() {
	if e.gather == nil {
		e.gather = time.AfterFunc(e.s.cfg.Limits.Gather, e.gathered)
	}
}

// gathered parks the exchange if there is something to ask.
func (e *Exchange) gathered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.gather = nil
	if e.over || e.final != nil || e.now.resolved() || len(e.open) == 0 {
		return
	}
	for _, o := range e.open {
		if bad := e.now.may(o.Method, o.Params); bad != nil { // B7.2, B7.15
			e.end(EndCapability, bad, bad)
			return
		}
	}
	if e.round >= e.s.cfg.Limits.Rounds || !e.kept && !e.s.keep(e) {
		bad := jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests wait for input").WithReason(mcp.ReasonBusy)
		e.end(EndLimit, bad, bad)
		return
	}
	e.kept = true
	e.park()
}

// park gives the client what is open and waits for it to come back. mu is held.
func (e *Exchange) park() {
	l := e.s.cfg.Limits
	wait := min(l.Round, time.Until(e.born.Add(l.Life)))
	if wait <= 0 {
		e.end(EndExpired, Refused(), ErrAbandoned)
		return
	}
	e.round++
	st := state{kind: kindExchange, pod: e.s.cfg.Pod, epoch: e.s.epoch, id: e.id, round: e.round, expiry: time.Now().Add(wait)}
	copy(st.digest[:], e.begin.Digest)
	text, bad := e.s.seal(st)
	if bad != nil {
		e.end(EndLimit, bad, bad)
		return
	}
	turn := Turn{State: text}
	for _, o := range e.open {
		o.shown = true
		turn.Asked = append(turn.Asked, o.Asked)
	}
	e.stopExpiry()
	e.expiry = time.AfterFunc(wait, func() { e.abandon(EndExpired, ErrAbandoned) })
	e.now.resolve(turn)
}

func (e *Exchange) stopExpiry() {
	if e.expiry != nil {
		e.expiry.Stop()
		e.expiry = nil
	}
}

// withdraw takes a question back (B7.10).
func (e *Exchange) withdraw(o *open) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.remove(o)
}

func (e *Exchange) remove(o *open) {
	for i, other := range e.open {
		if other == o {
			e.open = append(e.open[:i:i], e.open[i+1:]...)
			return
		}
	}
}

// Finish tells how the workload's call ended. What is still asked needs no
// answer. Call it once.
func (e *Exchange) Finish(f Final) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.final = &f
	e.answerAll()
	if e.over {
		return
	}
	if !e.now.resolved() {
		e.conclude()
	}
	// Else the client has yet to fetch it (B7.10); the clock of its round runs.
}

// conclude gives the final answer to the claim whose turn it is. mu is held.
func (e *Exchange) conclude() {
	e.over = true
	e.stopExpiry()
	e.now.resolve(Turn{Final: e.final})
	if !e.kept {
		return
	}
	e.s.ended(EndDone)
	e.s.done(e)
	// A retry whose answer was lost may ask for it again (P20).
	e.expiry = time.AfterFunc(e.s.cfg.Limits.Grace, func() { e.s.drop(e) })
}

// abandon ends an exchange whose client does not come back (B7.12).
func (e *Exchange) abandon(why End, cause error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.over {
		if why == EndClosed {
			e.stopExpiry()
			e.s.drop(e)
		}
		return
	}
	e.end(why, Refused(), cause)
}

// end ends the exchange without an answer of the workload: what is open is
// answered, the claim fails with bad, the workload's call is cancelled with
// cause. mu is held.
func (e *Exchange) end(why End, bad *jsonrpc.Error, cause error) {
	e.over = true
	e.stopExpiry()
	asked := len(e.open) > 0
	e.answerAll()
	e.now.resolve(Turn{Err: bad})
	e.s.drop(e)
	e.s.ended(why)
	switch {
	case e.final != nil:
	case asked:
		time.AfterFunc(settle, func() { e.begin.Cancel(cause) })
	default:
		e.begin.Cancel(cause)
	}
}

func (e *Exchange) answerAll() {
	for _, o := range e.open {
		o.answer <- abandoned(o.Method)
	}
	e.open = nil
}

func canonical(raw []byte) []byte { return strictjson.Canonical(raw) }
