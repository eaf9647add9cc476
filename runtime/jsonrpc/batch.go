package jsonrpc

import "github.com/fairlead-dev/fairlead/runtime/strictjson"

// MaxBatch is the most messages that one batch may hold.
const MaxBatch = 50

// IsBatch reports whether data begins like a JSON array.
func IsBatch(data []byte) bool { return strictjson.IsArray(data) }

// ParseBatch reads a batch of 2025-03-26 (W12.1): each member as its own
// message, in order. It fails as a whole, with *ParseError, when data is not a
// JSON array, is empty (W12.4), holds more than MaxBatch members, or any
// member is no message.
func ParseBatch(data []byte, policy strictjson.Policy) ([]*Message, error) {
	if err := strictjson.Scan(data, policy); err != nil {
		code := int64(CodeInvalidRequest)
		if strictjson.IsGrammar(err) {
			code = CodeParse
		}
		return nil, &ParseError{Code: code, Message: "batch refused", cause: err}
	}
	var (
		out  []*Message
		fail error
	)
	isArray := strictjson.Elements(data, func(value []byte) bool {
		if len(out) == MaxBatch {
			fail = &ParseError{Code: CodeInvalidRequest, Message: "batch is too long"}
			return false
		}
		var m *Message
		if m, fail = Parse(value, policy); fail != nil {
			return false
		}
		out = append(out, m)
		return true
	})
	switch {
	case fail != nil:
		return nil, fail
	case !isArray:
		return nil, &ParseError{Code: CodeInvalidRequest, Message: "batch is not an array"}
	case len(out) == 0:
		return nil, &ParseError{Code: CodeInvalidRequest, Message: "batch is empty"}
	}
	return out, nil
}
