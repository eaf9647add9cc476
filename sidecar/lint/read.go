package lint

import (
	"encoding/json"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// member is a raw member by its path, nil when it is not there.
func member(object []byte, path ...string) json.RawMessage {
	value, _ := strictjson.GetPath(object, path...)
	return value
}

// text is a member that is a string.
func text(object []byte, path ...string) string {
	out, _ := strictjson.String(member(object, path...))
	return out
}

func elements(object []byte, path ...string) (out []json.RawMessage) {
	strictjson.Elements(member(object, path...), func(one []byte) bool {
		out = append(out, one)
		return true
	})
	return out
}

// label names an entry of any list.
func label(entry []byte) string {
	for _, key := range []string{"name", "uri", "uriTemplate"} {
		if name := text(entry, key); name != "" {
			return name
		}
	}
	return "?"
}
