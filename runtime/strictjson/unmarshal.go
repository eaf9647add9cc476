package strictjson

import "github.com/go-json-experiment/json"

// Unmarshal decodes one of our own files into the struct v points to. It is
// Scan with FromClient first, then: unknown members are refused, names are
// case-sensitive. Errors name the place but may quote the text, so it is not
// for secrets.
func Unmarshal(data []byte, v any) error {
	if err := Scan(data, FromClient); err != nil {
		return err
	}
	return json.Unmarshal(data, v, json.RejectUnknownMembers(true))
}
