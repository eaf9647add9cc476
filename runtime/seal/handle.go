package seal

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"strings"
)

// Random is 128 bits from the system's generator.
type Random [16]byte

// NewRandom makes a Random.
func NewRandom() (r Random) {
	_, _ = rand.Read(r[:])
	return r
}

// Kind tells sessions of different modes apart (D9).
type Kind uint8

// KindStateful is a session that lives on its pod. The stateless mode gets a
// kind of its own.
const KindStateful Kind = 1

// Session is what a session id says. The id never changes during the session.
type Session struct {
	Kind     Kind
	Revision string
	// Pod and Epoch name the owner: pod UID, and the start of the process in
	// it.
	Pod   string
	Epoch uint64
	// Random is the identity of the session.
	Random Random
}

// Stream is what a stream handle says; event ids are `<handle>.<seq>` (P2).
type Stream struct {
	// Session is the session that the stream belongs to.
	Session Random
	Pod     string
	// Standalone streams carry unsolicited messages; others answer Request.
	Standalone bool
	// Request is the id of the request as JSON text; empty when it was longer
	// than MaxRequestID, and then the stream cannot be resumed once it is
	// gone.
	Request string
	// Random is the identity of the stream within its session.
	Random Random
}

// MaxRequestID is the longest request id that a stream handle carries (P2).
const MaxRequestID = 64

const formatVersion = 1

// SealSession makes a session id for a principal.
func (k *Keyring) SealSession(s Session, principal string) (string, error) {
	b := make([]byte, 0, 128)
	b = append(b, formatVersion, byte(s.Kind))
	b = appendText(b, s.Revision)
	b = appendText(b, s.Pod)
	b = binary.AppendUvarint(b, s.Epoch)
	b = append(b, s.Random[:]...)
	digest := principalDigest(principal)
	return k.Seal(PurposeSession, append(b, digest[:]...))
}

// OpenSession reads a session id that is presented by a principal. The error
// is ErrUnknown for every reason, a foreign principal included (B0.6).
func (k *Keyring) OpenSession(token, principal string) (Session, error) {
	ring := k.ring.Load()
	if ring == nil {
		return Session{}, ErrUnknown
	}
	if o, ok := ring.sessions.find(token); ok && o.principal == principal {
		return o.session, nil
	}
	plain, err := k.Open(PurposeSession, token)
	if err != nil {
		return Session{}, err
	}
	r := fields{rest: plain}
	version := r.byte()
	s := Session{Kind: Kind(r.byte()), Revision: r.text(), Pod: r.text(), Epoch: r.number(), Random: r.random()}
	presented := principalDigest(principal)
	mine := subtle.ConstantTimeCompare(r.bytes(len(presented)), presented[:]) == 1
	if r.failed || len(r.rest) > 0 || version != formatVersion || !mine {
		return Session{}, ErrUnknown
	}
	// The token is part of a request, which it would keep in memory.
	ring.sessions.keep(strings.Clone(token), opened{session: s, principal: strings.Clone(principal)})
	return s, nil
}

// ForgetSession lets go of what is remembered of the id of a session that has
// ended. It only costs time: an id that comes again opens as before.
func (k *Keyring) ForgetSession(session Random) {
	if ring := k.ring.Load(); ring != nil {
		ring.sessions.forget(session)
	}
}

// Remembered is how many session ids are remembered, at most twice 1,024.
func (k *Keyring) Remembered() int {
	ring := k.ring.Load()
	if ring == nil {
		return 0
	}
	return ring.sessions.len()
}

// SealStream makes a stream handle, once per stream.
func (k *Keyring) SealStream(s Stream) (string, error) {
	b := make([]byte, 0, 128)
	standalone := byte(0)
	if s.Standalone {
		standalone = 1
	}
	if len(s.Request) > MaxRequestID {
		s.Request = ""
	}
	b = append(b, formatVersion, standalone)
	b = append(b, s.Session[:]...)
	b = append(b, s.Random[:]...)
	b = appendText(b, s.Pod)
	return k.Seal(PurposeStream, appendText(b, s.Request))
}

// OpenStream reads a stream handle presented on a session. The error is
// ErrUnknown for every reason, another session's handle included.
func (k *Keyring) OpenStream(token string, session Random) (Stream, error) {
	plain, err := k.Open(PurposeStream, token)
	if err != nil {
		return Stream{}, err
	}
	r := fields{rest: plain}
	version := r.byte()
	s := Stream{Standalone: r.byte() == 1, Session: r.random(), Random: r.random(), Pod: r.text(), Request: r.text()}
	if r.failed || len(r.rest) > 0 || version != formatVersion || s.Session != session {
		return Stream{}, ErrUnknown
	}
	return s, nil
}

// principalDigest keeps ids short whatever a principal looks like. Its length
// is part of it, so no two principals run into one another.
func principalDigest(principal string) [sha256.Size]byte {
	return sha256.Sum256(append(binary.AppendUvarint(nil, uint64(len(principal))), principal...))
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// fields reads the plain form; after a failure everything is zero.
type fields struct {
	rest   []byte
	failed bool
}

func (f *fields) bytes(n int) []byte {
	if f.failed || n < 0 || n > len(f.rest) {
		f.failed = true
		return nil
	}
	out := f.rest[:n]
	f.rest = f.rest[n:]
	return out
}

func (f *fields) byte() byte {
	if b := f.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (f *fields) number() uint64 {
	n, size := binary.Uvarint(f.rest)
	if f.failed || size <= 0 {
		f.failed = true
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

func (f *fields) text() string {
	n := f.number()
	if n > uint64(len(f.rest)) {
		f.failed = true
		return ""
	}
	return string(f.bytes(int(n)))
}

func (f *fields) random() (r Random) {
	copy(r[:], f.bytes(len(r)))
	return r
}
