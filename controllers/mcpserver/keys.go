package mcpserver

import (
	"context"
	"crypto/rand"
	"io"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/events"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// keys makes sure that the key Secret holds a usable key (D9). A lost or
// damaged one is made anew, which ends every handle that clients hold: that is
// said by an event, and only when there was one before (O8).
func (r *Reconciler) keys(ctx context.Context, s *scope) *outcome.Failure {
	var have map[string][]byte
	if secret, ok := s.children.secret.Object.(*corev1.Secret); ok {
		have = secret.Data
	}
	want, anew, err := keyData(have, rand.Reader)
	if err != nil {
		return outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "The system gave no random bytes for a key.")
	}
	s.in.Keys = want
	res, f := r.apply(ctx, s, s.children.secret, "Secret", s.names.Secret, desired.KeySecret(s.in))
	if f != nil {
		return f
	}
	if (res.Created || res.Updated) && anew && s.children.deployment.State == ownership.Ours {
		s.tell(events.KeysLost())
	}
	return nil
}

// keyData returns what the key Secret should hold, given what it holds: every
// usable key stays; when none is left a new one is made. anew is true then.
func keyData(have map[string][]byte, random io.Reader) (want map[string][]byte, anew bool, err error) {
	want = map[string][]byte{}
	for id, key := range have {
		if validKeyID(id) && len(key) == config.KeyBytes {
			want[id] = key
		}
	}
	if len(want) == 0 {
		id, key, err := newKey(random)
		if err != nil {
			return nil, false, err
		}
		return map[string][]byte{id: key, config.SealWith: []byte(id)}, true, nil
	}
	seal := string(have[config.SealWith])
	if _, ok := want[seal]; !ok {
		seal = slices.Sorted(maps.Keys(want))[0]
	}
	want[config.SealWith] = []byte(seal)
	return want, false, nil
}

const keyIDAlphabet = "abcdefghijklmnopqrstuvwxyz012345" // 32, so a byte maps evenly

// newKey makes a key under an id that was not used before: a sidecar that
// still has a lost key must not take the new one for it.
func newKey(random io.Reader) (id string, key []byte, err error) {
	raw := make([]byte, config.MaxKeyID+config.KeyBytes)
	if _, err := io.ReadFull(random, raw); err != nil {
		return "", nil, err
	}
	name := raw[:config.MaxKeyID]
	for i, b := range name {
		name[i] = keyIDAlphabet[int(b)%len(keyIDAlphabet)]
	}
	return string(name), raw[config.MaxKeyID:], nil
}

func validKeyID(id string) bool {
	if id == "" || len(id) > config.MaxKeyID {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
