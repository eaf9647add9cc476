package server

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// digest names this request so that a retry of it has the same name and no
// other request has: principal, method, and the parameters without what a
// retry adds, in canonical form (W32.8, P23).
func (c *Context) digest() []byte {
	params := c.x.Msg.Params
	if params == nil {
		params = []byte(`{}`)
	}
	bare, err := strictjson.Splice(params, strictjson.Delete("_meta"), strictjson.Delete("inputResponses"), strictjson.Delete("requestState"))
	if err == nil {
		params = canonical(bare)
	}
	if broken.Rule("W32.8") {
		params = nil
	}
	h := sha256.New()
	for _, part := range [][]byte{[]byte(c.x.Principal()), []byte(c.x.Msg.Method), params} {
		h.Write(binary.AppendUvarint(nil, uint64(len(part))))
		h.Write(part)
	}
	return h.Sum(nil)
}

// canonical spells a JSON value in one way: no whitespace, members sorted,
// strings without needless escapes, numbers as they were written (P23).
func canonical(raw []byte) []byte {
	v := jsontext.Value(append([]byte(nil), raw...))
	err := v.Format(
		jsontext.ReorderRawObjects(true),
		jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true),
		jsontext.EscapeForHTML(false), jsontext.EscapeForJS(false),
		jsontext.SpaceAfterColon(false), jsontext.SpaceAfterComma(false),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false),
		jsontext.PreserveRawStrings(false),
	)
	if err != nil {
		return raw
	}
	return v
}
