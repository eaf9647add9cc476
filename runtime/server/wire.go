package server

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	v1 "github.com/go-json-experiment/json/v1"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// style is how Go values look on the wire: as encoding/json writes them, but
// empty slices and maps instead of null, so that they fit the schemas made of
// their types, no HTML escapes, and in a fixed order.
func style() json.Options {
	return json.JoinOptions(
		v1.DefaultOptionsV1(),
		json.FormatNilSliceAsNull(false), json.FormatNilMapAsNull(false),
		json.MatchCaseInsensitiveNames(false),
		jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
		json.Deterministic(true),
	)
}

var wireStyle = style()

// encode makes the JSON of a value of ours or of a handler.
func encode(v any) ([]byte, error) { return json.Marshal(v, wireStyle) }

// decode reads JSON into a value; member names count exactly as they are
// spelt, as they did when they were checked.
func decode(raw []byte, v any) error { return json.Unmarshal(raw, v, wireStyle) }

// params reads the parameters of a request that the schema of the protocol
// fixes. Absent ones read as an empty object (R7).
func params(raw []byte, v any) *jsonrpc.Error {
	if raw == nil {
		raw = []byte(`{}`)
	}
	if err := decode(raw, v); err != nil {
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the parameters are not of the right form")
	}
	return nil
}
