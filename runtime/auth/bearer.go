package auth

import (
	"net/http"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// MaxTokenBytes bounds a token. Nothing longer is looked at.
const MaxTokenBytes = 16 << 10

// Bearer takes the token out of a request (RFC 6750 section 2.1, W38.3). Without
// an Authorization field, or with that of another scheme, the Refusal's code is
// NoToken; a broken field, two of them, or a token in the query is an
// InvalidRequest, whatever else there is.
func Bearer(r *http.Request) (token string, refusal *Refusal) {
	if InQuery(r) && !broken.Rule("W38.3") {
		return "", Refuse(InvalidRequest, "no tokens in the query")
	}
	values := r.Header["Authorization"]
	switch len(values) {
	case 0:
		return "", Refuse(NoToken, "")
	case 1:
		return ParseBearer(values[0])
	}
	return "", Refuse(InvalidRequest, "more than one Authorization field")
}

// InQuery tells whether the query of the request carries a token: the query is
// in every log on the way. Parts of it that cannot be parsed are searched as
// they are.
func InQuery(r *http.Request) bool {
	query := r.URL.RawQuery
	if query == "" {
		return false
	}
	return r.URL.Query().Has("access_token") || strings.Contains(strings.ToLower(query), "access_token=")
}

// ParseBearer takes the token out of the value of an Authorization field. The
// scheme may be of any letter case; what follows must be a b64token.
func ParseBearer(value string) (token string, refusal *Refusal) {
	value = strings.Trim(value, " \t")
	scheme, token, found := strings.Cut(value, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", Refuse(NoToken, "")
	}
	token = strings.TrimLeft(token, " ")
	switch {
	case !found || token == "":
		return "", Refuse(InvalidRequest, "the token is missing")
	case len(token) > MaxTokenBytes:
		return "", Refuse(InvalidRequest, "the token is too long")
	case !isB64Token(token):
		return "", Refuse(InvalidRequest, "the token has characters that no token has")
	}
	return token, nil
}

// isB64Token is the grammar of RFC 6750 section 2.1.
func isB64Token(text string) bool {
	body := strings.TrimRight(text, "=")
	for i := range len(body) {
		c := body[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~+/", c) >= 0) {
			return false
		}
	}
	return body != ""
}
