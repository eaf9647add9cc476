package auth_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// W38.8, W38.9, W38.12
func TestARefusalBecomesAChallenge(t *testing.T) {
	const meta = "https://h.example/.well-known/oauth-protected-resource/mcp"
	for name, tc := range map[string]struct {
		refusal *auth.Refusal
		meta    string
		want    string
	}{
		"nothing was presented: no error code": {
			&auth.Refusal{Scopes: []string{"b", "a", "b"}}, meta,
			`Bearer scope="a b", resource_metadata="` + meta + `"`,
		},
		"a bad token": {
			auth.Refuse(auth.InvalidToken, "the token has expired"), meta,
			`Bearer error="invalid_token", error_description="the token has expired", resource_metadata="` + meta + `"`,
		},
		"too few scopes": {
			auth.NeedScopes(&auth.Identity{Principal: "p", Scopes: []string{"a"}}, "a", "b"), "",
			`Bearer error="insufficient_scope", error_description="the token lacks the scope b", scope="a b"`,
		},
		"never offline_access": {
			&auth.Refusal{Scopes: []string{"offline_access", "a"}}, "", `Bearer scope="a"`,
		},
		"a reason that would end the field": {
			auth.Refuse(auth.InvalidToken, "a\"b\\c\r\nSet-Cookie: x\x00é"), "",
			`Bearer error="invalid_token", error_description="a\"b\\c??Set-Cookie: x??"`,
		},
		"nothing to say": {&auth.Refusal{}, "", `Bearer`},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tc.refusal.Challenge(tc.meta).String(); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestChallengesAreToldApart(t *testing.T) {
	for name, tc := range map[string]struct {
		values []string
		want   []auth.Challenge
	}{
		"one": {
			[]string{`Bearer error="invalid_token", scope="a b"`},
			[]auth.Challenge{{Scheme: "Bearer", Params: map[string]string{"error": "invalid_token", "scope": "a b"}}},
		},
		"several in a value, others between": {
			[]string{`Negotiate, Basic realm="x, Bearer", Bearer resource_metadata="https://h/m", error=invalid_token`},
			[]auth.Challenge{
				{Scheme: "Negotiate"},
				{Scheme: "Basic", Params: map[string]string{"realm": "x, Bearer"}},
				{Scheme: "Bearer", Params: map[string]string{"resource_metadata": "https://h/m", "error": "invalid_token"}},
			},
		},
		"several values": {
			[]string{`DPoP algs="ES256"`, `bearer`},
			[]auth.Challenge{{Scheme: "DPoP", Params: map[string]string{"algs": "ES256"}}, {Scheme: "bearer"}},
		},
		"token68": {
			[]string{`Negotiate YII==, Bearer`},
			[]auth.Challenge{{Scheme: "Negotiate", Token68: "YII=="}, {Scheme: "Bearer"}},
		},
		"an address without quotation marks": {
			[]string{`Bearer resource_metadata=https://h.example/.well-known/x?a=b, scope=a`},
			[]auth.Challenge{{Scheme: "Bearer", Params: map[string]string{"resource_metadata": "https://h.example/.well-known/x?a=b", "scope": "a"}}},
		},
		"blanks around, empty elements, letter case": {
			[]string{`, ,Bearer  ERROR = "x\"y" ,, , Scope ="s"`},
			[]auth.Challenge{{Scheme: "Bearer", Params: map[string]string{"error": `x"y`, "scope": "s"}}},
		},
		"of two values of a name the first": {
			[]string{`Bearer error="a", error="b"`},
			[]auth.Challenge{{Scheme: "Bearer", Params: map[string]string{"error": "a"}}},
		},
		"a string without an end": {
			[]string{`Bearer scope="a", error="b`},
			[]auth.Challenge{{Scheme: "Bearer", Params: map[string]string{"scope": "a"}}},
		},
		"nonsense between": {
			[]string{`@@"," x, Bearer scope="a"`, `realm="lost"`, ``},
			[]auth.Challenge{{Scheme: "Bearer", Params: map[string]string{"scope": "a"}}},
		},
		"a value that is too long": {[]string{`Bearer scope="` + strings.Repeat("a", 20<<10) + `"`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := auth.ParseChallenges(tc.values)
			for i := range got {
				if len(got[i].Params) == 0 {
					got[i].Params = nil
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheChallengeThatSaysMostCounts(t *testing.T) {
	for name, tc := range map[string]struct{ field, want string }{
		"one with an error":        {`Bearer realm="a", Bearer error="insufficient_scope"`, `Bearer error="insufficient_scope"`},
		"else one with metadata":   {`Bearer realm="a", Bearer resource_metadata="m"`, `Bearer resource_metadata="m"`},
		"else the first":           {`Basic realm="b", Bearer realm="a", Bearer realm="c"`, `Bearer realm="a"`},
		"others do not count":      {`Basic error="x"`, ``},
		"hundreds of them are cut": {strings.Repeat(`Basic a="b", `, 100) + `Bearer error="x"`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := auth.FindBearer(auth.ParseChallenges([]string{tc.field}))
			if ok != (tc.want != "") || ok && c.String() != tc.want {
				t.Errorf("got %v %s, want %s", ok, c, tc.want)
			}
		})
	}
}

func FuzzParseChallenges(f *testing.F) {
	for _, seed := range []string{
		`Bearer error="invalid_token", scope="a b"`, `Negotiate YII==, Basic realm="x, y"`, `Bearer a=`, `"`, `Bearer "\`, `a b c, d=e`, `Bearer =,`, "B\xffearer x=\x00",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, c := range auth.ParseChallenges([]string{value}) {
			written := c.String()
			if strings.ContainsAny(written, "\r\n\x00") {
				t.Fatalf("%q would end a field", written)
			}
			again := auth.ParseChallenges([]string{written})
			if len(again) != 1 || again[0].String() != written {
				t.Fatalf("%q was read as %q", written, again)
			}
		}
	})
}
