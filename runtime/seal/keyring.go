package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// Purpose keeps handles of different kinds apart: what was sealed for one
// never opens for another.
type Purpose uint8

// The purposes.
const (
	PurposeSession Purpose = iota
	PurposeStream
	PurposeTask
	PurposeRequestState
	PurposeCursor
	PurposeHandle
	purposes
)

// MaxToken bounds a sealed handle, so that it fits into one header line (P10).
const MaxToken = 1024

// MinSecret is the least number of bytes of a key's secret.
const MinSecret = 32

const maxKeyID = 16

// Errors of this package. ErrUnknown is the only one that opening returns.
var (
	ErrUnknown = errors.New("unknown handle")
	ErrNoKey   = errors.New("no key to seal with")
	ErrTooLong = errors.New("handle would be too long")
)

// Key is one secret. ID is visible in handles: letters, digits, '-' and '_',
// at most 16.
type Key struct {
	ID     string
	Secret []byte
}

// Keyring seals with one key and opens with several, so that keys can be
// rotated. The zero value opens nothing and seals nothing until Load. All
// methods may be called concurrently; Load swaps the whole ring at once.
type Keyring struct {
	// Server is mixed into every handle: handles of another server do not
	// open here, whatever the key. Set before the first use.
	Server string
	// Unknown, when not nil, is told a key id that a handle names and the ring
	// does not have: perhaps the keys were rotated and have not been read yet.
	// Anybody can make it happen at any rate. It must not block. Set before
	// the first use.
	Unknown func(keyID string)

	ring atomic.Pointer[ring]
}

type ring struct {
	keys     map[string]*[purposes]cipher.AEAD
	sealWith string
	sessions memo
}

// Load replaces the keys. It fails, and leaves the old ones, when a key is not
// usable or sealWith is not among them.
func (k *Keyring) Load(keys []Key, sealWith string) error {
	next := &ring{keys: make(map[string]*[purposes]cipher.AEAD, len(keys)), sealWith: sealWith}
	for _, key := range keys {
		if !validKeyID(key.ID) {
			return fmt.Errorf("key id %q: want 1 to %d letters, digits, '-' or '_'", key.ID, maxKeyID)
		}
		if _, twice := next.keys[key.ID]; twice {
			return fmt.Errorf("key id %q is there twice", key.ID)
		}
		if len(key.Secret) < MinSecret {
			return fmt.Errorf("key %q has %d bytes, want at least %d", key.ID, len(key.Secret), MinSecret)
		}
		aeads, err := derive(key.Secret)
		if err != nil {
			return fmt.Errorf("key %q: %w", key.ID, err)
		}
		next.keys[key.ID] = aeads
	}
	if next.keys[sealWith] == nil {
		return fmt.Errorf("the key to seal with, %q, is not among the keys", sealWith)
	}
	k.ring.Store(next)
	return nil
}

// Loaded reports whether there are keys.
func (k *Keyring) Loaded() bool { return k.ring.Load() != nil }

// LoadEphemeral makes a random key that lives as long as the process: for a
// single pod whose handles need not outlive it.
func (k *Keyring) LoadEphemeral() error {
	secret := make([]byte, MinSecret)
	_, _ = rand.Read(secret) // never fails; the runtime crashes instead
	return k.Load([]Key{{ID: "e", Secret: secret}}, "e")
}

// derive makes one AEAD per purpose, once per key: nothing is derived per
// handle.
func derive(secret []byte) (*[purposes]cipher.AEAD, error) {
	var out [purposes]cipher.AEAD
	for p := range out {
		sub, err := hkdf.Key(sha256.New, secret, nil, fmt.Sprintf("fairlead handle %d", p), 32)
		if err != nil {
			return nil, err
		}
		block, err := aes.NewCipher(sub)
		if err != nil {
			return nil, err
		}
		if out[p], err = cipher.NewGCMWithRandomNonce(block); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

func validKeyID(id string) bool {
	if id == "" || len(id) > maxKeyID {
		return false
	}
	for i := range len(id) {
		c := id[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// Seal makes `<key id>.<base64url>` of plaintext. It fails without keys and
// when the result would exceed MaxToken.
func (k *Keyring) Seal(p Purpose, plaintext []byte) (string, error) {
	return k.SealLong(p, plaintext, MaxToken)
}

// SealLong is Seal with another bound than MaxToken, for handles that travel in
// bodies.
func (k *Keyring) SealLong(p Purpose, plaintext []byte, longest int) (string, error) {
	r := k.ring.Load()
	if r == nil {
		return "", ErrNoKey
	}
	aead := r.keys[r.sealWith][p]
	sealed := aead.Seal(nil, nil, plaintext, k.bind(p))
	token := r.sealWith + "." + encoding.EncodeToString(sealed)
	if len(token) > longest {
		return "", ErrTooLong
	}
	return token, nil
}

// Open returns what was sealed. Whatever is wrong, the error is ErrUnknown.
func (k *Keyring) Open(p Purpose, token string) ([]byte, error) {
	return k.OpenLong(p, token, MaxToken)
}

// OpenLong is Open for what SealLong made.
func (k *Keyring) OpenLong(p Purpose, token string, longest int) ([]byte, error) {
	r := k.ring.Load()
	if r == nil || len(token) > longest {
		return nil, ErrUnknown
	}
	id, text, ok := strings.Cut(token, ".")
	aeads := r.keys[id]
	if ok && aeads == nil && k.Unknown != nil && validKeyID(id) {
		k.Unknown(id)
	}
	// The decoder skips line ends; one spelling only.
	if !ok || aeads == nil || strings.ContainsAny(text, "\r\n") {
		return nil, ErrUnknown
	}
	sealed, err := encoding.DecodeString(text)
	if err != nil {
		return nil, ErrUnknown
	}
	plain, err := aeads[p].Open(nil, nil, sealed, k.bind(p))
	if err != nil {
		return nil, ErrUnknown
	}
	return plain, nil
}

// bind is the associated data: server and purpose.
func (k *Keyring) bind(p Purpose) []byte {
	return append([]byte{byte(p)}, k.Server...)
}

// encoding is strict, so that a handle has one spelling only.
var encoding = base64.RawURLEncoding.Strict()
