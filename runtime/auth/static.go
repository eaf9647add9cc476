package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// StaticToken is one token that a person wrote down, and whom it stands for. To
// rotate, give a principal two of them for a while.
type StaticToken struct {
	// Token is the token, or "sha256:" and the hex SHA-256 of it.
	Token string
	// Identity is what the token stands for; with Expires it ends by itself.
	Identity Identity
}

// MaxStaticTokens bounds a set of static tokens.
const MaxStaticTokens = 10_000

// minStaticBytes is the least that a static token may have: what is shorter can
// be guessed.
const minStaticBytes = 16

const hashPrefix = "sha256:"

type digest [sha256.Size]byte

// Static checks tokens against a fixed set. It holds no token, only digests
// under a key of this process, and looks a token up by its digest: the time that
// takes depends on nothing a caller could choose or learn from.
type Static struct {
	key    []byte
	tokens map[digest]*Identity
	now    func() time.Time
}

// NewStatic makes a Static. The error names the entry by its principal, never by
// its token.
func NewStatic(tokens ...StaticToken) (*Static, error) {
	if len(tokens) > MaxStaticTokens {
		return nil, fmt.Errorf("auth: %d static tokens, %d are allowed", len(tokens), MaxStaticTokens)
	}
	s := &Static{key: make([]byte, sha256.Size), tokens: make(map[digest]*Identity, len(tokens)), now: time.Now}
	_, _ = rand.Read(s.key) // never fails, by its documentation
	for i := range tokens {
		if err := s.add(&tokens[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *Static) add(t *StaticToken) error {
	id := t.Identity
	if id.Principal == "" {
		return errors.New("auth: a static token without a principal")
	}
	refused := func(why string) error { return fmt.Errorf("auth: the static token of %q %s", id.Principal, why) }
	sum, err := staticDigest(t.Token)
	if err != nil {
		return refused(err.Error())
	}
	if len(id.Scopes) > MaxScopes {
		return refused("has too many scopes")
	}
	id.Scopes = NormalScopes(id.Scopes)
	blind := s.blind(sum)
	if other, twice := s.tokens[blind]; twice {
		return refused(fmt.Sprintf("is also that of %q", other.Principal))
	}
	s.tokens[blind] = &id
	return nil
}

func staticDigest(token string) (sum digest, err error) {
	if hexed, hashed := strings.CutPrefix(token, hashPrefix); hashed {
		raw, err := hex.DecodeString(hexed)
		if err != nil || len(raw) != len(sum) {
			return sum, errors.New("is no SHA-256 in hex")
		}
		return digest(raw), nil
	}
	switch {
	case len(token) < minStaticBytes:
		return sum, fmt.Errorf("is shorter than %d bytes", minStaticBytes)
	case len(token) > MaxTokenBytes:
		return sum, fmt.Errorf("is longer than %d bytes", MaxTokenBytes)
	case !isB64Token(token):
		return sum, errors.New("has characters that no bearer token may have")
	}
	return sha256.Sum256([]byte(token)), nil
}

// blind turns a token's digest into one that nobody outside can aim at.
func (s *Static) blind(sum digest) digest {
	mac := hmac.New(sha256.New, s.key)
	mac.Write(sum[:])
	return digest(mac.Sum(nil))
}

// Check implements Checker.
func (s *Static) Check(_ context.Context, token string, _ *http.Request) (*Identity, error) {
	id, known := s.tokens[s.blind(sha256.Sum256([]byte(token)))]
	if !known {
		return nil, Refuse(InvalidToken, "the token is not known here")
	}
	if id.Expired(s.now()) {
		return nil, Refuse(InvalidToken, "the token has expired")
	}
	return id, nil
}

// Len returns the number of tokens.
func (s *Static) Len() int { return len(s.tokens) }
