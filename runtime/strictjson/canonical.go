package strictjson

import "github.com/go-json-experiment/json/jsontext"

// Canonical spells a JSON value in one way: no whitespace, members sorted by
// code point, strings without needless escapes, numbers as they were written
// (P23). What is not JSON comes back as it is.
func Canonical(raw []byte) []byte {
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
