package token_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/auth/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const endpoint = "https://h.example/mcp"

// resourceServer is a RoundTripper that takes some tokens; what it saw is in seen, a
// line a request.
type resourceServer struct {
	mu    sync.Mutex
	takes map[string][]string // token → scopes
	needs []string
	meta  string
	seen  []string
}

func (s *resourceServer) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := ""
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		body = string(raw)
		_ = r.Body.Close()
	}
	value, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.seen = append(s.seen, strings.TrimSpace(value+" "+body))
	status, challenge := 200, ""
	scopes, known := s.takes[value]
	if !known {
		status = 401
		refusal := auth.Refuse(auth.InvalidToken, "x")
		if value == "" {
			refusal = auth.Refuse(auth.NoToken, "")
		}
		refusal.Scopes = s.needs
		challenge = refusal.Challenge(s.meta).String()
	} else if lack := auth.NeedScopes(&auth.Identity{Principal: "p", Scopes: scopes}, s.needs...); lack != nil {
		status, challenge = 403, lack.Challenge(s.meta).String()
	}
	resp := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: r}
	if challenge != "" {
		resp.Header.Set("WWW-Authenticate", challenge)
	}
	return resp, nil
}

func (s *resourceServer) set(edit func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	edit()
}

func (s *resourceServer) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.seen
	s.seen = nil
	return out
}

// source makes token t1, t2, … and notes what they were for.
type source struct {
	mu     sync.Mutex
	needs  []string
	life   time.Duration
	delay  time.Duration
	fail   error
	lazy   bool // none before it is asked for
	always string
	panics bool
}

func (s *source) Token(ctx context.Context, need token.Need) (token.Token, error) {
	if s.panics {
		panic("no terminal")
	}
	if s.delay > 0 {
		select {
		case <-time.After(s.delay):
		case <-ctx.Done():
			return token.Token{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lazy && need.Reason == token.First {
		return token.Token{}, token.ErrNone
	}
	s.needs = append(s.needs, strings.TrimSpace(string(need.Reason)+" "+strings.Join(need.Scopes, ",")))
	if s.fail != nil {
		return token.Token{}, s.fail
	}
	t := token.Token{Value: fmt.Sprint("t", len(s.needs))}
	if s.always != "" {
		t.Value = s.always
	}
	if s.life > 0 {
		t.Expires = time.Now().Add(s.life)
	}
	return t, nil
}

func (s *source) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.needs)
}

func rig(t *testing.T, s token.Source, base http.RoundTripper, edit func(*token.Options)) *token.Transport {
	t.Helper()
	o := token.Options{Resource: endpoint, Source: s}
	if edit != nil {
		edit(&o)
	}
	a, err := token.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &token.Transport{Auth: a, Base: base}
}

// post makes a request and returns its status, or the error's text.
func post(ctx context.Context, rt http.RoundTripper, url, body string) string {
	r, err := http.NewRequestWithContext(ctx, "POST", url, strings.NewReader(body))
	if err != nil {
		return err.Error()
	}
	resp, err := rt.RoundTrip(r)
	if err != nil {
		return err.Error()
	}
	_ = resp.Body.Close()
	return fmt.Sprint(resp.StatusCode)
}
