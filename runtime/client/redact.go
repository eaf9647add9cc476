package client

import (
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// secrets are parts of member names whose values are not shown: they open
// something, or a server's requestState stands for what a user said.
var secrets = [...]string{
	"authorization", "password", "passwd", "secret", "token", "apikey", "api_key", "api-key",
	"credential", "cookie", "privatekey", "private_key", "requeststate",
}

// shownAnyway are names that hold one of secrets and are none.
var shownAnyway = [...]string{"progresstoken", "maxtokens"}

const redaction = `"[redacted]"`

// Redacted is a copy of a JSON message without the values of members that look
// like secrets, at any depth; nil when raw is not JSON. Order and everything
// else stay.
func Redacted(raw []byte) []byte {
	if strictjson.Scan(raw, strictjson.FromWorkload) != nil {
		return nil
	}
	return redact(make([]byte, 0, len(raw)), raw)
}

func redact(dst, raw []byte) []byte {
	switch {
	case strictjson.IsObject(raw):
		dst = append(dst, '{')
		n := 0
		strictjson.Each(raw, func(name, value []byte) bool {
			if n++; n > 1 {
				dst = append(dst, ',')
			}
			dst = append(strictjson.Quote(dst, string(name)), ':')
			if secret(string(name)) && !strictjson.IsObject(value) {
				dst = append(dst, redaction...)
			} else {
				dst = redact(dst, value)
			}
			return true
		})
		return append(dst, '}')
	case strictjson.IsArray(raw):
		dst = append(dst, '[')
		n := 0
		strictjson.Elements(raw, func(value []byte) bool {
			if n++; n > 1 {
				dst = append(dst, ',')
			}
			dst = redact(dst, value)
			return true
		})
		return append(dst, ']')
	}
	return append(dst, raw...)
}

func secret(name string) bool {
	name = strings.ToLower(name)
	for _, one := range shownAnyway {
		if name == one {
			return false
		}
	}
	for _, one := range secrets {
		if strings.Contains(name, one) {
			return true
		}
	}
	return false
}
