package seal

import (
	"crypto/subtle"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// passedVersion is that of the form of Passed, so that it is never taken for a
// Task.
const passedVersion = 2

// Passed is what a task id says that stands for the id of somebody else's task:
// nothing of that task is kept, and it is still bound to a principal (B12,
// W36.19).
type Passed struct {
	// Pod names who made it, so that any pod can hand a request on; it may be
	// empty.
	Pod string
	// ID is the task's own id.
	ID string
}

// SealPassed makes such an id for a principal. The error is ErrTooLong for an
// id that is too long to stand for.
func (k *Keyring) SealPassed(p Passed, principal string) (string, error) {
	b := appendText([]byte{passedVersion}, p.Pod)
	digest := principalDigest(principal)
	return k.Seal(PurposeTask, append(appendText(b, p.ID), digest[:]...))
}

// OpenPassed reads one that is presented by a principal. The error is
// ErrUnknown for every reason, a foreign principal included (B0.6).
func (k *Keyring) OpenPassed(token, principal string) (Passed, error) {
	plain, err := k.Open(PurposeTask, token)
	if err != nil {
		return Passed{}, err
	}
	r := fields{rest: plain}
	version := r.byte()
	p := Passed{Pod: r.text(), ID: r.text()}
	presented := principalDigest(principal)
	mine := subtle.ConstantTimeCompare(r.bytes(len(presented)), presented[:]) == 1 || broken.Rule("W36.19")
	if r.failed || len(r.rest) > 0 || version != passedVersion || !mine {
		return Passed{}, ErrUnknown
	}
	return p, nil
}
