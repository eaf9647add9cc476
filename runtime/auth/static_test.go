package auth_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

const (
	tokenA = "aaaaaaaaaaaaaaaaaaaaaaaa"
	tokenB = "bbbbbbbbbbbbbbbbbbbbbbbb"
)

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(sum[:])
}

func TestStaticTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := auth.NewStatic(
			auth.StaticToken{Token: tokenA, Identity: auth.Identity{Principal: "alice", Scopes: []string{"b", "a", "a"}}},
			auth.StaticToken{Token: hashed(tokenB), Identity: auth.Identity{Principal: "alice"}}, // rotation
			auth.StaticToken{Token: "cccccccccccccccccccc", Identity: auth.Identity{Principal: "bob", Expires: time.Now().Add(time.Minute)}},
		)
		if err != nil {
			t.Fatal(err)
		}
		check := func(token string) string {
			id, err := s.Check(t.Context(), token, nil)
			if err != nil {
				return err.Error()
			}
			return fmt.Sprint(id.Principal, id.Scopes)
		}
		for token, want := range map[string]string{
			tokenA: "alice[a b]", tokenB: "alice[]", "cccccccccccccccccccc": "bob[]",
			tokenA + "a":   "invalid_token: the token is not known here",
			tokenA[1:]:     "invalid_token: the token is not known here",
			hashed(tokenB): "invalid_token: the token is not known here", // the digest is no token
			"":             "invalid_token: the token is not known here",
		} {
			if got := check(token); got != want {
				t.Errorf("%q: got %s, want %s", token, got, want)
			}
		}
		time.Sleep(time.Minute)
		if got := check("cccccccccccccccccccc"); got != "invalid_token: the token has expired" {
			t.Error(got)
		}
	})
}

func TestStaticTokensThatNobodyShouldUse(t *testing.T) {
	for name, tc := range map[string]struct {
		tokens []auth.StaticToken
		want   string
	}{
		"one that can be guessed":      {[]auth.StaticToken{{Token: "secret", Identity: auth.Identity{Principal: "p"}}}, `the static token of "p" is shorter`},
		"an empty one":                 {[]auth.StaticToken{{Identity: auth.Identity{Principal: "p"}}}, "shorter"},
		"one that no field can carry":  {[]auth.StaticToken{{Token: "with blanks in the middle", Identity: auth.Identity{Principal: "p"}}}, "characters"},
		"a digest that is none":        {[]auth.StaticToken{{Token: "sha256:abcd", Identity: auth.Identity{Principal: "p"}}}, "SHA-256"},
		"nobody's":                     {[]auth.StaticToken{{Token: tokenA}}, "without a principal"},
		"one for two":                  {[]auth.StaticToken{{Token: tokenA, Identity: auth.Identity{Principal: "p"}}, {Token: hashed(tokenA), Identity: auth.Identity{Principal: "q"}}}, `is also that of "p"`},
		"too many":                     {make([]auth.StaticToken, auth.MaxStaticTokens+1), "10001 static tokens"},
		"one with too many privileges": {[]auth.StaticToken{{Token: tokenA, Identity: auth.Identity{Principal: "p", Scopes: make([]string, auth.MaxScopes+1)}}}, "too many scopes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := auth.NewStatic(tc.tokens...)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %s", err, tc.want)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), tokenA) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

// A file that is no token file is not read to its end.
func TestATokenFileIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(path, []byte("alice "+tokenA+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := auth.OpenStaticFile(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 64<<20); err != nil { // a hole: costs no disk
		t.Fatal(err)
	}
	if _, err := auth.OpenStaticFile(path); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("got %v", err)
	}
}

func TestATokenFileIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "tokens")
		write := func(text string) {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write("# people\n\nalice " + tokenA + " read write expires=2100-01-01T00:00:00Z\n")
		f, err := auth.OpenStaticFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var heard []string
		f.Reloaded = func(n int, err error) { heard = append(heard, fmt.Sprint(n, err)) }
		knows := func(token string) bool {
			_, err := f.Check(t.Context(), token, nil)
			return err == nil
		}
		if !knows(tokenA) || knows(tokenB) {
			t.Fatal("the first reading")
		}
		write("bob " + hashed(tokenB) + "\n")
		time.Sleep(9 * time.Second)
		if !knows(tokenA) {
			t.Error("read again before it was time")
		}
		time.Sleep(2 * time.Second)
		if knows(tokenA) || !knows(tokenB) {
			t.Error("not read again when it was time")
		}
		for _, broken := range []string{"bob\n", "bob " + tokenB + " expires=tomorrow\n", "bob short\n"} {
			write(broken)
			time.Sleep(11 * time.Second)
			if !knows(tokenB) {
				t.Errorf("%q took the last good tokens away", broken)
			}
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		time.Sleep(11 * time.Second)
		if !knows(tokenB) {
			t.Error("a file that is gone took the last good tokens away")
		}
		if len(heard) != 5 || heard[0] != "1 <nil>" || !strings.Contains(heard[1], "line 1") || strings.Contains(strings.Join(heard, ""), tokenB) {
			t.Errorf("Reloaded heard %q", heard)
		}
		if _, err := auth.OpenStaticFile(path); err == nil {
			t.Error("opened a file that is not there")
		}
	})
}

func FuzzParseStatic(f *testing.F) {
	f.Add("# c\nalice " + tokenA + " s expires=2100-01-01T00:00:00Z\r\nbob sha256:00")
	f.Add("a\n")
	f.Add("\x00 \xff =")
	f.Fuzz(func(t *testing.T, text string) {
		tokens, err := auth.ParseStatic(text)
		if err != nil {
			return
		}
		for _, token := range tokens {
			if token.Token == "" || token.Identity.Principal == "" || strings.ContainsAny(token.Token, " \t\n") {
				t.Errorf("took %+v", token)
			}
		}
	})
}
