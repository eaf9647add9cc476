package handle

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// Sealed makes handles that carry their value. It keeps nothing, so there is no
// bound on how many there are, no idle time and no revoking one; retiring the
// key ends them all. Values are encoded as JSON. All methods may be called
// concurrently.
type Sealed[T any] struct{ o Options[T] }

// NewSealed makes a Sealed. Processes that read one another's handles need the
// same Keys and Kind.
func NewSealed[T any](o Options[T]) (*Sealed[T], error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Sealed[T]{o: o}, nil
}

// Put returns a handle that carries the value. Errors: ErrTooLarge, what
// Authorize says, a value that cannot be encoded.
func (s *Sealed[T]) Put(ctx context.Context, owner Owner, value T) (string, error) {
	if err := s.o.allow(ctx, owner, Create, value); err != nil {
		return "", err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return "", err
	}
	if len(raw) > s.o.Bytes {
		return "", ErrTooLarge
	}
	bound := bind("sealed", s.o.Kind, owner.Principal)
	b := make([]byte, 0, len(bound)+8+len(raw))
	b = append(b, bound[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(s.o.Now().Add(s.o.TTL).UnixMilli()))
	return s.o.Keys.SealLong(seal.PurposeHandle, append(b, raw...), s.longest())
}

// Get returns the value in a handle. Errors: ErrUnknown, what Authorize says.
func (s *Sealed[T]) Get(ctx context.Context, owner Owner, handle string) (T, error) {
	var value, zero T
	plain, err := s.o.Keys.OpenLong(seal.PurposeHandle, handle, s.longest())
	if err != nil || len(plain) < sha256.Size+8 {
		return zero, ErrUnknown
	}
	bound := bind("sealed", s.o.Kind, owner.Principal)
	mine := subtle.ConstantTimeCompare(plain[:len(bound)], bound[:]) == 1
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(plain[len(bound):])))
	if !mine || !s.o.Now().Before(expires.Add(Skew)) || json.Unmarshal(plain[len(bound)+8:], &value) != nil {
		return zero, ErrUnknown
	}
	if err := s.o.allow(ctx, owner, Read, value); err != nil {
		return zero, err
	}
	return value, nil
}

// longest bounds a handle: what is sealed in base64, and the seal around it.
func (s *Sealed[T]) longest() int { return (s.o.Bytes+sha256.Size+8)*4/3 + 128 }
