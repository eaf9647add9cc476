package middleware

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Rate describes a RateLimit. Zero fields mean the default in brackets.
type Rate struct {
	// Every is how often one request is allowed in the long run [100 ms].
	Every time.Duration
	// Burst is how many may come at once [10].
	Burst int
	// Keys bounds the callers that are told apart [4,096]. When all of them
	// are busy, further ones share one allowance.
	Keys int
	// Key names whom a request counts for [its bucket, else principal, else
	// session].
	Key func(m *Message) string
	// Counts says which requests count [all but ping and initialize].
	Counts func(m *Message) bool
	// Limited is told of every refusal; it must not block.
	Limited func(m *Message)
}

// RateLimit refuses requests of a caller who sends too many: -32603 with the
// reason "rate_limited" and retryAfterMs. Notifications and responses pass: they
// belong to requests that were let in. It counts on the monotonic clock.
func RateLimit(r Rate) Middleware {
	l := &limiter{Rate: r.withDefaults(), began: time.Now(), due: map[string]time.Duration{}}
	return func(next Handler) Handler {
		return func(ctx context.Context, m *Message) jsonrpc.Outcome {
			if m.Kind != jsonrpc.KindRequest || !l.Counts(m) {
				return next(ctx, m)
			}
			if wait := l.take(l.Key(m)); wait > 0 {
				if l.Limited != nil {
					l.Limited(m)
				}
				return jsonrpc.Fail(limited(wait))
			}
			return next(ctx, m)
		}
	}
}

func (r Rate) withDefaults() Rate {
	if r.Every <= 0 {
		r.Every = 100 * time.Millisecond
	}
	if r.Burst <= 0 {
		r.Burst = 10
	}
	if r.Keys <= 0 {
		r.Keys = 4096
	}
	if r.Key == nil {
		r.Key = caller
	}
	if r.Counts == nil {
		r.Counts = func(m *Message) bool { return m.Method != mcp.MethodPing && m.Method != mcp.MethodInitialize }
	}
	return r
}

func caller(m *Message) string {
	switch {
	case m.Bucket != "":
		return m.Bucket
	case m.Principal != "":
		return "principal:" + m.Principal
	}
	return "session:" + m.Session
}

func limited(wait time.Duration) *jsonrpc.Error {
	e := jsonrpc.Errorf(jsonrpc.CodeInternal, "too many requests")
	data := strictjson.Quote([]byte(`{"reason":`), mcp.ReasonRateLimited)
	data = append(data, `,"retryAfterMs":`...)
	data = strconv.AppendInt(data, int64((wait+time.Millisecond-1)/time.Millisecond), 10)
	e.Data = append(data, '}')
	return e
}

// limiter holds for each caller the time at which its allowance will be whole
// again, from which everything else follows. A caller whose time has come is
// like one that never was, and is forgotten when room is needed.
type limiter struct {
	Rate
	began time.Time

	mu    sync.Mutex
	due   map[string]time.Duration
	rest  time.Duration // of all callers that there was no room for
	swept time.Duration
}

// take counts one request; wait is 0 when it is allowed, else how long the
// caller has to wait for the next.
func (l *limiter) take(key string) (wait time.Duration) {
	now := time.Since(l.began)
	l.mu.Lock()
	defer l.mu.Unlock()
	due, known := l.due[key]
	if !known && len(l.due) >= l.Keys && !l.sweep(now) {
		l.rest, wait = l.next(l.rest, now)
		return wait
	}
	due, wait = l.next(due, now)
	if wait == 0 {
		l.due[key] = due
	}
	return wait
}

func (l *limiter) next(due, now time.Duration) (after, wait time.Duration) {
	if due < now {
		due = now
	}
	if ahead := due - now; ahead > time.Duration(l.Burst-1)*l.Every {
		return due, ahead - time.Duration(l.Burst-1)*l.Every
	}
	return due + l.Every, 0
}

// sweep forgets callers that are like new; false when there is still no room.
// It looks at all of them at most once per Every.
func (l *limiter) sweep(now time.Duration) bool {
	if l.swept > 0 && now-l.swept < l.Every {
		return false
	}
	l.swept = now
	for key, due := range l.due {
		if due <= now {
			delete(l.due, key)
		}
	}
	return len(l.due) < l.Keys
}
