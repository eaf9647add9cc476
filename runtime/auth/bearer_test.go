package auth_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
)

// W38.3, P33.7
func TestTheTokenComesInOneFieldOrNotAtAll(t *testing.T) {
	for name, tc := range map[string]struct {
		query  string
		fields []string
		token  string
		code   auth.Code
		status int
	}{
		"a token":                        {fields: []string{"Bearer abc.DEF-123_~+/=="}, token: "abc.DEF-123_~+/=="},
		"any letter case of the scheme":  {fields: []string{"bEARER abc"}, token: "abc"},
		"several blanks":                 {fields: []string{"  Bearer   abc "}, token: "abc"},
		"no field":                       {code: auth.NoToken, status: 401},
		"an empty field":                 {fields: []string{""}, code: auth.NoToken, status: 401},
		"another scheme":                 {fields: []string{"Basic dTpw"}, code: auth.NoToken, status: 401},
		"a scheme that begins with ours": {fields: []string{"BearerX abc"}, code: auth.NoToken, status: 401},
		"no token behind the scheme":     {fields: []string{"Bearer "}, code: auth.InvalidRequest, status: 400},
		"two tokens":                     {fields: []string{"Bearer abc def"}, code: auth.InvalidRequest, status: 400},
		"a list":                         {fields: []string{"Bearer abc, Bearer def"}, code: auth.InvalidRequest, status: 400},
		"two fields":                     {fields: []string{"Bearer abc", "Bearer abc"}, code: auth.InvalidRequest, status: 400},
		"padding alone":                  {fields: []string{"Bearer =="}, code: auth.InvalidRequest, status: 400},
		"padding inside":                 {fields: []string{"Bearer a=b"}, code: auth.InvalidRequest, status: 400},
		"bytes outside ASCII":            {fields: []string{"Bearer ab\xfcc"}, code: auth.InvalidRequest, status: 400},
		"the longest token":              {fields: []string{"Bearer " + strings.Repeat("a", auth.MaxTokenBytes)}, token: strings.Repeat("a", auth.MaxTokenBytes)},
		"one byte more":                  {fields: []string{"Bearer " + strings.Repeat("a", auth.MaxTokenBytes+1)}, code: auth.InvalidRequest, status: 400},
		"in the query":                   {query: "access_token=abc", code: auth.InvalidRequest, status: 400},
		"in the query and in the field":  {query: "x=1&access_token=abc", fields: []string{"Bearer abc"}, code: auth.InvalidRequest, status: 400},
		"in the query, escaped":          {query: "access%5Ftoken=abc", fields: []string{"Bearer abc"}, code: auth.InvalidRequest, status: 400},
		"in a query that is broken":      {query: "%zz;access_token=abc", fields: []string{"Bearer abc"}, code: auth.InvalidRequest, status: 400},
		"a word in the query":            {query: "q=access_tokens", fields: []string{"Bearer abc"}, token: "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest("POST", "/mcp", nil)
			r.URL.RawQuery = tc.query
			if tc.fields != nil {
				r.Header = http.Header{"Authorization": tc.fields}
			}
			token, refusal := auth.Bearer(r)
			if (refusal == nil) != (tc.status == 0) || token != tc.token {
				t.Fatalf("token %q, refusal %v", token, refusal)
			}
			if refusal != nil && (refusal.Code != tc.code || refusal.Code.Status() != tc.status) {
				t.Errorf("code %q, status %d", refusal.Code, refusal.Code.Status())
			}
			if refusal != nil && strings.Contains(refusal.Error(), "abc") {
				t.Errorf("the refusal shows the token: %v", refusal)
			}
		})
	}
}

func FuzzParseBearer(f *testing.F) {
	for _, seed := range []string{"Bearer abc", "bearer  a=b", "Basic x", "Bearer", " Bearer ==", "Bearer a\x00", "Bearer a==\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, refusal := auth.ParseBearer(value)
		if (token == "") == (refusal == nil) {
			t.Fatalf("token %q, refusal %v", token, refusal)
		}
		if refusal != nil {
			return
		}
		if len(token) > auth.MaxTokenBytes || strings.ContainsAny(token, " \t\r\n,\"\x00") {
			t.Errorf("took %q", token)
		}
		if again, refusal := auth.ParseBearer("Bearer " + token); refusal != nil || again != token {
			t.Errorf("%q became %q, %v", token, again, refusal)
		}
	})
}
