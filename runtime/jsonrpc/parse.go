package jsonrpc

import (
	"errors"
	"strconv"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Parse reads one message in one scan by the policy of its sender (P8). data
// must not change as long as the message is used. Errors are *ParseError:
// -32700 when the bytes are not JSON, -32600 when they are JSON but no
// message (W1.1, W1.2, W1.6, R7) or JSON that the policy refuses. A batch is
// refused here; see IsBatch.
func Parse(data []byte, policy strictjson.Policy) (*Message, error) {
	m := new(Message)
	if err := ParseTo(m, data, policy); err != nil {
		return nil, err
	}
	return m, nil
}

// ParseTo is Parse into a Message of the caller's, which means nothing after an
// error.
func ParseTo(m *Message, data []byte, policy strictjson.Policy) error {
	p := parsers.Get().(*parser)
	defer p.release()
	err := p.parse(data, policy)
	*m = p.msg
	return err
}

func (p *parser) parse(data []byte, policy strictjson.Policy) error {
	p.msg.Raw = strictjson.Trim(data)
	if err := strictjson.ScanVisit(p.msg.Raw, policy, p); err != nil {
		if strictjson.IsGrammar(err) {
			return &ParseError{Code: CodeParse, Message: "body is not valid JSON", cause: err}
		}
		return &ParseError{Code: CodeInvalidRequest, Message: "message refused: " + refused(err), ID: RecoverID(data), cause: err}
	}
	if !strictjson.IsObject(p.msg.Raw) {
		return &ParseError{Code: CodeInvalidRequest, Message: "message is not a JSON object"}
	}
	if text := p.shape(); text != "" {
		return &ParseError{Code: CodeInvalidRequest, Message: text, ID: p.msg.ID}
	}
	return nil
}

// refused says what the policy does not take, in words of its own: nothing of
// the message is shown.
func refused(err error) string {
	for _, kind := range []error{strictjson.ErrDuplicate, strictjson.ErrMembers, strictjson.ErrDepth} {
		if errors.Is(err, kind) {
			return kind.Error()
		}
	}
	return "not allowed here"
}

var parsers = sync.Pool{New: func() any { return new(parser) }}

// parser collects the envelope while it is scanned.
type parser struct {
	msg                                   Message
	version, id, method, params, errValue []byte
	result                                []byte
	paramsMeta, resultMeta                []byte
	code, message, data                   []byte
}

func (p *parser) release() {
	*p = parser{}
	parsers.Put(p)
}

// Member implements strictjson.Visitor.
func (p *parser) Member(parent, name, value []byte) {
	if parent == nil {
		switch string(name) {
		case "jsonrpc":
			p.version = value
		case "id":
			p.id = value
		case "method":
			p.method = value
		case "params":
			p.params = value
		case "result":
			p.result = value
		case "error":
			p.errValue = value
		}
		return
	}
	switch string(parent) {
	case "params":
		if string(name) == "_meta" {
			p.paramsMeta = value
		}
	case "result":
		if string(name) == "_meta" {
			p.resultMeta = value
		}
	case "error":
		switch string(name) {
		case "code":
			p.code = value
		case "message":
			p.message = value
		case "data":
			p.data = value
		}
	}
}

// shape decides what the members make together; it returns what is wrong.
func (p *parser) shape() string {
	m := &p.msg
	nullID := strictjson.IsNull(p.id)
	if p.id != nil && !nullID {
		var ok bool
		if m.ID, ok = ParseID(p.id); !ok {
			return "id must be a string or an integer"
		}
	}
	if string(p.version) != `"2.0"` {
		return `jsonrpc must be "2.0"`
	}
	// A null member beside the real one is how some serializers spell
	// "absent".
	if p.errValue != nil && strictjson.IsNull(p.errValue) && p.result != nil {
		p.errValue = nil
	}
	if p.result != nil && strictjson.IsNull(p.result) && p.errValue != nil {
		p.result = nil
	}
	if p.method != nil {
		return p.call(nullID)
	}
	switch {
	case p.result == nil && p.errValue == nil:
		return "message has no method, result or error"
	case p.result != nil && p.errValue != nil && !broken.Rule("W1.6"):
		return "response has both result and error"
	case p.result != nil && m.ID.IsZero():
		return "result without an id"
	}
	m.Kind = KindResponse
	if p.errValue != nil {
		return p.failure()
	}
	m.Result = p.result
	if strictjson.IsObject(p.resultMeta) {
		m.Meta = p.resultMeta
	}
	return ""
}

// call shapes a request or a notification.
func (p *parser) call(nullID bool) string {
	m := &p.msg
	if p.result != nil || p.errValue != nil {
		return "message has both method and result or error"
	}
	if nullID {
		return "id must not be null"
	}
	method, ok := strictjson.String(p.method)
	if !ok {
		return "method must be a string"
	}
	m.Method = method
	m.Kind = KindRequest
	if m.ID.IsZero() {
		m.Kind = KindNotification
	}
	if p.params == nil || strictjson.IsNull(p.params) {
		return "" // R7
	}
	if !strictjson.IsObject(p.params) {
		return "params must be an object"
	}
	m.Params = p.params
	if strictjson.IsObject(p.paramsMeta) {
		m.Meta = p.paramsMeta
	}
	return ""
}

// failure shapes an error response (W1.7).
func (p *parser) failure() string {
	code, err := strconv.ParseInt(string(p.code), 10, 64)
	if !strictjson.IsObject(p.errValue) || err != nil {
		return "error must have an integer code"
	}
	out := &Error{Code: code, Data: p.data}
	text, ok := strictjson.String(p.message)
	if ok {
		out.Message, out.Raw = text, p.errValue
	}
	p.msg.Err = out
	return ""
}

// RecoverID reads the id of a request or response that is broken, from as much
// of it as can be read (R5); zero when there is none.
func RecoverID(data []byte) ID {
	raw, ok := strictjson.Get(data, "id")
	if !ok {
		return ID{}
	}
	id, _ := ParseID(raw)
	return id
}
