package seal

import (
	"crypto/subtle"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// Task is what a task id says (W35.8, W36.19). The id never changes during the
// task's life.
type Task struct {
	// Pod names who runs the task, so that any pod can hand a request on; it
	// may be empty.
	Pod string
	// Random is the identity of the task.
	Random Random
}

// SealTask makes a task id for a principal.
func (k *Keyring) SealTask(t Task, principal string) (string, error) {
	b := make([]byte, 0, 96)
	b = append(b, formatVersion)
	b = appendText(b, t.Pod)
	b = append(b, t.Random[:]...)
	digest := principalDigest(principal)
	return k.Seal(PurposeTask, append(b, digest[:]...))
}

// OpenTask reads a task id that is presented by a principal. The error is
// ErrUnknown for every reason, a foreign principal included (B0.6).
func (k *Keyring) OpenTask(token, principal string) (Task, error) {
	plain, err := k.Open(PurposeTask, token)
	if err != nil {
		return Task{}, err
	}
	r := fields{rest: plain}
	version := r.byte()
	t := Task{Pod: r.text(), Random: r.random()}
	presented := principalDigest(principal)
	mine := subtle.ConstantTimeCompare(r.bytes(len(presented)), presented[:]) == 1 || broken.Rule("W36.19")
	if r.failed || len(r.rest) > 0 || version != formatVersion || !mine {
		return Task{}, ErrUnknown
	}
	return t, nil
}
