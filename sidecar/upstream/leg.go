package upstream

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Leg is one initialized conversation with the workload. All methods may be
// called concurrently.
type Leg interface {
	// Init is the workload's answer to initialize. It never changes for the
	// user of the leg, also when the leg has had to initialize again.
	Init() *peer.Init
	// Call is peer.Peer's.
	Call(ctx context.Context, r peer.Request) (peer.Answer, error)
	// Notify sends a notification.
	Notify(ctx context.Context, method string, params []byte) error
	// Level is the most verbose log level that was asked for on this leg.
	Level() *Level
	// Done is closed when the leg has ended; Err then says why.
	Done() <-chan struct{}
	Err() error
	// Close ends the leg and everything in flight on it. Idempotent; it does
	// not wait for the workload.
	Close(cause error)
}

// SessionRequest opens a leg of its own for one legacy client session.
type SessionRequest struct {
	// Principal is whose session it is; empty is anonymous.
	Principal string
	// Params are those of initialize, as the workload shall see them.
	Params []byte
	// Handler serves what the workload sends on this leg.
	Handler peer.Handler
	// Listening reports whether the client can be reached outside its
	// requests; such a session is not idle (P15). Nil means never.
	Listening func() bool
	// Ended is called once when the leg ends otherwise than by Close, after
	// everything in flight was resolved. Nil is allowed.
	Ended func(cause error)
}

// Key names the leg that requests without a session share (R23).
type Key struct {
	// Principal is who asks; empty is anonymous, one principal (P22).
	Principal string
	// Capabilities is the fingerprint of what the client declared (B3.2): the
	// canonical object that the leg was initialized with; empty is `{}`.
	Capabilities string
	// Lane tells the legs of one key apart where some calls need one to
	// themselves (P5); 0 is the one that everything else shares.
	Lane int
	// Any allows another leg of the key instead of a busy one (R23). Lists are
	// always those of lane 0 (B10.5, B11.11).
	Any bool
}

// Lease is a Leg that will not be ended for being idle before Release.
type Lease struct {
	Leg
	// Shared is the Handler of everything that the workload sends on the leg,
	// all its leases together.
	Shared *Shared
	// Lane is which leg of the key it is.
	Lane int
	// Apart says that what belongs to a call comes on the call's own stream.
	Apart bool
	// Deaf reports that nothing can be heard of the workload outside calls;
	// nil: never.
	Deaf func() bool
	// Release gives it back; call it exactly once.
	Release func()
}

// ByCall is a Handler for shared legs: what belongs to a call goes to that
// call's Value, if it is a peer.Handler; a request that belongs to none is
// refused (B6.2), a notification that belongs to none is dropped.
type ByCall struct{}

// Request implements peer.Handler.
func (ByCall) Request(ctx context.Context, in peer.Incoming) ([]byte, *jsonrpc.Error) {
	if h := handlerOf(in); h != nil {
		return h.Request(ctx, in)
	}
	return nil, jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "no client can be asked here")
}

// Notification implements peer.Handler.
func (ByCall) Notification(in peer.Incoming) {
	if h := handlerOf(in); h != nil {
		h.Notification(in)
	}
}

func handlerOf(in peer.Incoming) peer.Handler {
	if in.Call == nil {
		return nil
	}
	h, _ := in.Call.Value().(peer.Handler)
	return h
}
