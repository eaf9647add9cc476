package upstream

import (
	"context"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Level keeps the log level of a shared leg: the most verbose one that any of
// its requests has asked for (B11.1). The zero value is ready.
type Level struct {
	turn sync.Mutex // held across the call, so that levels arrive in order
	mu   sync.Mutex
	text string
}

// Raise makes the workload log at level or more verbosely. It returns the
// workload's refusal, if any, which ends nothing: the request then goes
// without logs.
func (l *Level) Raise(ctx context.Context, leg Leg, level string) error {
	if l.covers(level) {
		return nil
	}
	l.turn.Lock()
	defer l.turn.Unlock()
	if l.covers(level) {
		return nil
	}
	answer, err := leg.Call(ctx, peer.Request{
		Method: mcp.MethodSetLevel,
		Params: append(strictjson.Quote([]byte(`{"level":`), level), '}'),
	})
	switch {
	case err != nil:
		return err
	case answer.Err != nil:
		return answer.Err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = level
	return nil
}

func (l *Level) covers(level string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text != "" && mcp.LogSeverity(l.text) <= mcp.LogSeverity(level)
}
