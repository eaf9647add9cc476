package handle

import (
	"context"
	"crypto/sha256"
	"errors"
	"strconv"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Defaults of Options.
const (
	DefaultTTL      = time.Hour
	DefaultPerOwner = 100
	DefaultTotal    = 10_000
	DefaultBytes    = 4 << 10
)

// Skew is how much the clocks of processes that share keys may differ (P33.10):
// a Sealed handle is good for that much longer than its time to live.
const Skew = time.Minute

// Errors.
var (
	// ErrUnknown: the handle means nothing to this caller, whatever the reason.
	ErrUnknown = errors.New("unknown handle")
	// ErrOwnerFull and ErrFull: a bound is reached.
	ErrOwnerFull = errors.New("too many handles of this principal")
	ErrFull      = errors.New("too many handles")
	// ErrTooLarge: the value does not fit into a handle.
	ErrTooLarge = errors.New("the value is too large for a handle")
	// ErrClosed: the store has been closed.
	ErrClosed = errors.New("the handle store is closed")
)

// Owner is who asks.
type Owner struct {
	// Principal is whom a handle is bound to; empty is anonymous, and then
	// whoever has the handle may use it.
	Principal string
	// Bucket is what an anonymous caller's handles are counted under, such as
	// the peer's address (P22). It means nothing with a Principal.
	Bucket string
}

func (o Owner) account() string {
	if o.Principal == "" {
		return "bucket " + o.Bucket
	}
	return "principal " + o.Principal
}

// Use is what a caller wants with a handle.
type Use string

// The uses.
const (
	Create Use = "create"
	Read   Use = "read"
	Change Use = "change"
	Revoke Use = "revoke"
)

// Options of a Store or a Sealed. Zero fields mean what their comments say.
type Options[T any] struct {
	// Kind is what the handles stand for, such as "cart". Handles of one kind
	// mean nothing to another, under the same keys. At most 64 bytes.
	Kind string
	// Keys seal; nil means a random key of this process.
	Keys *seal.Keyring
	// TTL is how long a handle is good for, from its creation [1 h].
	TTL time.Duration
	// Idle, when not 0, is how long it is good for without being used. Only a
	// Store has it.
	Idle time.Duration
	// PerOwner [100] and Total [10,000] bound the handles of a Store. At a
	// bound new ones are refused; no handle of anybody is given up for another.
	PerOwner, Total int
	// Bytes bounds the encoded value in a handle of a Sealed [4 KiB].
	Bytes int
	// Authorize, when not nil, is asked on every use, after the principal has
	// been found to be the right one; what it returns is returned to the
	// caller. Create is asked with the new value.
	Authorize func(ctx context.Context, owner Owner, use Use, value T) error
	// Released, when not nil, is given each value that leaves a Store: expired,
	// revoked, or left when it is closed: once, and after an Update of it that
	// was running. It must not block for long.
	Released func(T)
	// Panicked, when not nil, is told of a panic of Released, which ends
	// nothing else.
	Panicked func(value any, stack []byte)
	// Now is the clock; nil means one that steps of the wall clock do not move.
	Now func() time.Time
}

func (o Options[T]) withDefaults() (Options[T], error) {
	if len(o.Kind) > 64 {
		return o, errors.New("the kind of a handle has at most 64 bytes")
	}
	if o.Keys == nil {
		o.Keys = &seal.Keyring{}
		if err := o.Keys.LoadEphemeral(); err != nil {
			return o, err
		}
	}
	if o.TTL <= 0 {
		o.TTL = DefaultTTL
	}
	if o.PerOwner <= 0 {
		o.PerOwner = DefaultPerOwner
	}
	if o.Total <= 0 {
		o.Total = DefaultTotal
	}
	if o.Bytes <= 0 {
		o.Bytes = DefaultBytes
	}
	if o.Now == nil {
		o.Now = steady()
	}
	return o, nil
}

// steady is a clock that was set once, from the wall, and only runs on.
func steady() func() time.Time {
	began := time.Now()
	wall := began.Round(0)
	return func() time.Time { return wall.Add(time.Since(began)) }
}

func (o *Options[T]) allow(ctx context.Context, owner Owner, use Use, value T) error {
	if o.Authorize == nil {
		return nil
	}
	return o.Authorize(ctx, owner, use, value)
}

// bind is what ties a handle to its form, its kind and its principal.
func bind(form, kind, principal string) [sha256.Size]byte {
	return sha256.Sum256([]byte(form + "\x00" + strconv.Itoa(len(kind)) + "\x00" + kind + "\x00" + principal))
}

// RPC words an error of this package for a client: -32602 for ErrUnknown,
// -32603 for a bound (B16). An error that is or wraps a *jsonrpc.Error is that;
// of others nothing is shown.
func RPC(err error) *jsonrpc.Error {
	var own *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.Is(err, ErrUnknown):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown handle")
	case errors.Is(err, ErrOwnerFull), errors.Is(err, ErrFull):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many handles").WithReason("handle_limit")
	case errors.Is(err, ErrTooLarge):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the value is too large for a handle").WithReason("handle_limit")
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error")
}
