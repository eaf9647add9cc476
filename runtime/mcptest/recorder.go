package mcptest

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

// MaxRecorded bounds a Recorder; later messages are counted only.
const MaxRecorded = 100_000

// Recorder keeps every message that passes a pair of middleware stacks (D4):
// those of a server or of a client. The zero value is ready. All methods may be
// called concurrently.
type Recorder struct {
	mu       sync.Mutex
	messages []Recorded
	lost     int
}

// Recorded is one message as it passed.
type Recorded struct {
	// Sent tells those that the side of the Recorder sent from those that it
	// received.
	Sent bool
	Kind jsonrpc.Kind
	// Method of a response is that of the request it answers.
	Method   string
	Revision string
	// Session is the key of the session, empty for none.
	Session string
	// Raw is the message: its ids and payloads are the bytes that passed.
	Raw []byte
}

// Receive is the link for a Receive stack.
func (r *Recorder) Receive() middleware.Middleware { return r.link(false) }

// Send is the link for a Send stack.
func (r *Recorder) Send() middleware.Middleware { return r.link(true) }

func (r *Recorder) link(sent bool) middleware.Middleware {
	return func(next middleware.Handler) middleware.Handler {
		return func(ctx context.Context, m *middleware.Message) jsonrpc.Outcome {
			r.add(Recorded{Sent: sent, Kind: m.Kind, Method: m.Method, Revision: m.Revision, Session: m.Session, Raw: encode(m)})
			return next(ctx, m)
		}
	}
}

func (r *Recorder) add(m Recorded) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.messages) >= MaxRecorded {
		r.lost++
		return
	}
	r.messages = append(r.messages, m)
}

func encode(m *middleware.Message) []byte {
	switch {
	case m.Kind == jsonrpc.KindRequest:
		return jsonrpc.EncodeRequest(m.ID, m.Method, m.Params)
	case m.Kind == jsonrpc.KindNotification:
		return jsonrpc.EncodeNotification(m.Method, m.Params)
	case m.Err != nil:
		return jsonrpc.EncodeError(m.ID, m.Err)
	}
	return jsonrpc.EncodeResult(m.ID, m.Result)
}

// Messages returns what passed so far, in order, and how many messages there
// was no room for.
func (r *Recorder) Messages() (messages []Recorded, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Recorded(nil), r.messages...), r.lost
}

// Transcript writes what passed so far as text, a message a line: "->" for what
// was received, "<-" for what was sent, as seen from a server.
func (r *Recorder) Transcript() string {
	messages, lost := r.Messages()
	var b strings.Builder
	for _, m := range messages {
		arrow := "->"
		if m.Sent {
			arrow = "<-"
		}
		fmt.Fprintf(&b, "%s %s\n", arrow, m.Raw)
	}
	if lost > 0 {
		fmt.Fprintf(&b, "and %d more\n", lost)
	}
	return b.String()
}
