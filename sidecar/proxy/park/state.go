package park

import (
	"encoding/binary"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/sidecar/internal/broken"
)

// version of the sealed form.
const version = 1

// Kinds of states.
const (
	kindExchange = 'x'
	kindRepeat   = 'r'
)

// digestSize is that of SHA-256.
const digestSize = 32

// state is what a requestState says (B7.3). Digest binds it to the principal,
// the method and the params.
type state struct {
	kind   byte
	pod    string
	epoch  uint64
	id     seal.Random
	round  int
	digest [digestSize]byte
	expiry time.Time
}

func (s *state) encode() []byte {
	b := []byte{version, s.kind}
	b = binary.BigEndian.AppendUint64(b, uint64(s.expiry.Unix()))
	b = append(b, s.digest[:]...)
	b = append(b, s.id[:]...)
	b = binary.BigEndian.AppendUint64(b, s.epoch)
	b = binary.AppendUvarint(b, uint64(s.round))
	return append(b, s.pod...)
}

func decode(b []byte) (s state, ok bool) {
	const fixed = 2 + 8 + digestSize + len(s.id) + 8
	if len(b) < fixed || b[0] != version {
		return s, false
	}
	s.kind = b[1]
	s.expiry = time.Unix(int64(binary.BigEndian.Uint64(b[2:])), 0)
	copy(s.digest[:], b[10:])
	copy(s.id[:], b[10+digestSize:])
	s.epoch = binary.BigEndian.Uint64(b[fixed-8:])
	round, n := binary.Uvarint(b[fixed:])
	if n <= 0 || round > 1<<20 {
		return s, false
	}
	s.round, s.pod = int(round), string(b[fixed+n:])
	return s, true
}

// seal makes the text of a state.
func (s *Store) seal(st state) (string, *jsonrpc.Error) {
	text, err := s.cfg.Keys.Seal(seal.PurposeRequestState, st.encode())
	if err != nil {
		return "", jsonrpc.Errorf(jsonrpc.CodeInternal, "no state can be made")
	}
	return text, nil
}

// open reads one that comes with a request of digest, in the order of B7.4.
func (s *Store) open(text string, digest []byte) (state, bool) {
	plain, err := s.cfg.Keys.Open(seal.PurposeRequestState, text)
	if err != nil {
		return state{}, false
	}
	st, ok := decode(plain)
	if !ok || !time.Now().Before(st.expiry) || string(st.digest[:]) != string(digest) && !broken.Rule("B7.4") {
		return state{}, false
	}
	return st, true
}

// Repeat makes a state for a request that is simply made again with the answers
// (B7.19): nothing is kept, any pod takes it. round counts from 1.
func (s *Store) Repeat(digest []byte, round int) (string, *jsonrpc.Error) {
	st := state{kind: kindRepeat, pod: s.cfg.Pod, round: round, expiry: time.Now().Add(s.cfg.Limits.Round)}
	copy(st.digest[:], digest)
	return s.seal(st)
}
