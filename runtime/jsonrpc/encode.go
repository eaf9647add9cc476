package jsonrpc

import (
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const head = `{"jsonrpc":"2.0"`

// EncodeResult makes a response from a raw result, which is not checked.
func EncodeResult(id ID, result []byte) []byte {
	b := make([]byte, 0, len(head)+len(id.text)+len(result)+len(`,"id":,"result":}`))
	b = appendID(append(b, head...), id)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// EncodeError makes an error response. A zero id leaves the member out; where
// the revision wants null, pass NullID (W1.8, P34).
func EncodeError(id ID, e *Error) []byte {
	if broken.Rule("W1.8") {
		id = NullID()
	}
	b := make([]byte, 0, len(head)+len(id.text)+len(e.Raw)+len(e.Message)+len(e.Data)+64)
	b = appendID(append(b, head...), id)
	b = append(b, `,"error":`...)
	b = AppendError(b, e)
	return append(b, '}')
}

// AppendError appends the error object itself, as it travels.
func AppendError(b []byte, e *Error) []byte {
	if e.Raw != nil {
		return append(b, e.Raw...)
	}
	b = append(b, `{"code":`...)
	b = strconv.AppendInt(b, e.Code, 10)
	b = append(b, `,"message":`...)
	b = strictjson.Quote(b, e.Message)
	if e.Data != nil {
		b = append(b, `,"data":`...)
		b = append(b, e.Data...)
	}
	return append(b, '}')
}

// EncodeRequest makes a request. Nil params are left out.
func EncodeRequest(id ID, method string, params []byte) []byte {
	b := make([]byte, 0, len(head)+len(id.text)+len(method)+len(params)+40)
	b = appendID(append(b, head...), id)
	return appendCall(b, method, params)
}

// EncodeNotification makes a notification. Nil params are left out.
func EncodeNotification(method string, params []byte) []byte {
	b := make([]byte, 0, len(head)+len(method)+len(params)+32)
	return appendCall(append(b, head...), method, params)
}

func appendCall(b []byte, method string, params []byte) []byte {
	b = append(b, `,"method":`...)
	b = strictjson.Quote(b, method)
	if params != nil {
		b = append(b, `,"params":`...)
		b = append(b, params...)
	}
	return append(b, '}')
}

func appendID(b []byte, id ID) []byte {
	if id.IsZero() {
		return b
	}
	b = append(b, `,"id":`...)
	if broken.Rule("W1.5") {
		return strictjson.Quote(b, id.text)
	}
	return append(b, id.text...)
}
