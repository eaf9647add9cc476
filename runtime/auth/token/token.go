package token

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/metadata"
)

// Token is an access token. However it is printed, the value does not show.
type Token struct {
	Value string
	// Expires is when it ends; zero when that is not known.
	Expires time.Time
	// Scopes that it grants, if they are known; nil means those asked for.
	Scopes []string
}

// Format implements fmt.Formatter, for every verb.
func (t Token) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, t.String()) }

// String implements fmt.Stringer.
func (t Token) String() string {
	if t.Value == "" {
		return "no token"
	}
	return "REDACTED"
}

// LogValue implements slog.LogValuer.
func (t Token) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalJSON implements json.Marshaler. A token is not kept this way.
func (t Token) MarshalJSON() ([]byte, error) { return []byte(`"` + t.String() + `"`), nil }

// Reason is why a token is wanted.
type Reason string

// The reasons, a closed set.
const (
	First   Reason = "first"   // before anybody asked for one
	Expired Reason = "expired" // or about to
	Refused Reason = "refused" // 401
	Scope   Reason = "scope"   // 403: the token grants too little
)

// Need says what token is wanted.
type Need struct {
	// Resource is the canonical address of the server: what the token must be
	// made for (RFC 8707), unless the server's own metadata names a part of it.
	Resource string
	Reason   Reason
	// Scopes are all that were asked for so far: by this challenge, by earlier
	// ones, and by the options. Empty when nobody has said anything: then the
	// scopes of the resource's metadata are what to ask for, if it has any.
	Scopes []string
	// Challenge is what the server answered; its zero value before it has.
	Challenge auth.Challenge
	// Discover finds the authorization server, or remembers it. It is never
	// nil.
	Discover func(context.Context) (*metadata.Discovery, error)
}

// Source makes tokens. It may take its time, within ctx, and ask a person. It is
// called by one goroutine at a time for each server.
type Source interface {
	Token(ctx context.Context, need Need) (Token, error)
}

// SourceFunc makes a Source of a function.
type SourceFunc func(ctx context.Context, need Need) (Token, error)

// Token implements Source.
func (f SourceFunc) Token(ctx context.Context, need Need) (Token, error) { return f(ctx, need) }

// ErrNone is the error of a Source that has no token before a server asks for
// one; the request goes out without.
var ErrNone = errors.New("token: none before the server asks for one")

// ErrNoOther is the error of a Source whose only token was refused.
var ErrNoOther = errors.New("token: the token was refused, and there is no other")

// Static is a Source with one token.
func Static(value string) Source {
	return SourceFunc(func(_ context.Context, need Need) (Token, error) {
		if need.Reason != First {
			return Token{}, ErrNoOther
		}
		return Token{Value: value}, nil
	})
}

// rereadFile is how old a token of a file may get, since nobody says when it
// ends.
const rereadFile = time.Minute

// File is a Source that reads a file that others keep fresh, such as a mounted
// Secret. White space around the token does not count.
func File(path string) Source {
	return SourceFunc(func(context.Context, Need) (Token, error) {
		file, err := os.Open(path)
		if err != nil {
			return Token{}, fmt.Errorf("token: %w", err)
		}
		defer file.Close()
		raw, err := io.ReadAll(io.LimitReader(file, auth.MaxTokenBytes+2))
		if err != nil {
			return Token{}, fmt.Errorf("token: %w", err)
		}
		return Token{Value: strings.TrimSpace(string(raw)), Expires: time.Now().Add(rereadFile + early)}, nil
	})
}
