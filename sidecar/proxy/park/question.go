package park

import (
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// maxKey bounds a key that a workload chooses.
const maxKey = 128

// Question is what a workload asks the client for.
type Question struct {
	Method string
	// Params are raw, as the client shall see them; nil for none.
	Params []byte
	// Hint is the key that the workload chose for it, empty when it chose none
	// (B7.2).
	Hint string
}

// Asked is a Question with the key that its answer comes under.
type Asked struct {
	Key string
	Question
}

// open is a question that waits for its answer.
type open struct {
	Asked
	shown  bool          // in a round that the client has been given
	answer chan answered // one place
}

type answered struct {
	result []byte
	err    *jsonrpc.Error
}

// abandoned is what the workload is told when no answer will come (B7.12,
// B0.4): never consent, never an empty message.
func abandoned(method string) answered {
	switch method {
	case mcp.MethodElicit:
		return answered{result: []byte(`{"action":"cancel"}`)}
	case mcp.MethodCreateMessage:
		return answered{err: jsonrpc.Errorf(mcp.CodeUserRejected, "no answer")}
	}
	return answered{err: jsonrpc.Errorf(jsonrpc.CodeInternal, "no answer")}
}

// Kind is what minted keys of a method begin with.
func Kind(method string) string {
	switch method {
	case mcp.MethodElicit:
		return "elicitation"
	case mcp.MethodCreateMessage:
		return "sampling"
	case mcp.MethodRootsList:
		return "roots"
	}
	return "input"
}

func key(method string, n int) string { return fmt.Sprintf("%s-%d", Kind(method), n) }

// fits reports whether an answer has the shape of its kind (B7.6). Whether its
// fields are what was asked for is the workload's to say.
func fits(method string, answer []byte) bool {
	if !strictjson.IsObject(answer) {
		return false
	}
	has := func(names ...string) bool {
		for _, name := range names {
			if v, ok := strictjson.Get(answer, name); !ok || strictjson.IsNull(v) {
				return false
			}
		}
		return true
	}
	switch method {
	case mcp.MethodElicit:
		raw, _ := strictjson.Get(answer, "action")
		switch action, _ := strictjson.String(raw); action {
		case "accept", "decline", "cancel":
		default:
			return false
		}
		content, ok := strictjson.Get(answer, "content")
		return !ok || strictjson.IsObject(content)
	case mcp.MethodCreateMessage:
		return has("role", "content", "model")
	case mcp.MethodRootsList:
		roots, _ := strictjson.Get(answer, "roots")
		return strictjson.IsArray(roots)
	}
	return true
}

// Answers are the inputResponses of a request.
type Answers struct {
	given bool
	raw   []byte
	by    map[string][]byte
}

// ReadAnswers reads inputResponses from params. What is no object of objects is
// refused (B7.8).
func ReadAnswers(params []byte) (Answers, *jsonrpc.Error) {
	raw, given := strictjson.Get(params, "inputResponses")
	a := Answers{given: given, raw: raw, by: map[string][]byte{}}
	if !given {
		return a, nil
	}
	fine := strictjson.IsObject(raw) && strictjson.Each(raw, func(name, value []byte) bool {
		a.by[string(name)] = value
		return strictjson.IsObject(value)
	})
	for _, v := range a.by {
		fine = fine && strictjson.IsObject(v)
	}
	if !fine {
		return Answers{}, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "inputResponses must be an object of objects")
	}
	return a, nil
}

// ReadState reads requestState from params; given is false without one.
func ReadState(params []byte) (state string, given bool, err *jsonrpc.Error) {
	raw, given := strictjson.Get(params, "requestState")
	if !given {
		return "", false, nil
	}
	state, ok := strictjson.String(raw)
	if !ok {
		return "", true, Refused()
	}
	return state, true, nil
}

// Refused is the one error for a state that cannot be used, whatever is wrong
// with it (B7.4, B16).
func Refused() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "requestState is not valid for this request")
}

// Action is what the answer to an elicitation says; ok is false if it is none.
func (a Answers) Action(key string) (action string, ok bool) {
	raw := a.by[key]
	if !fits(mcp.MethodElicit, raw) {
		return "", false
	}
	value, _ := strictjson.Get(raw, "action")
	return strictjson.String(value)
}

// Get is the answer under a key.
func (a Answers) Get(key string) ([]byte, bool) {
	raw, ok := a.by[key]
	return raw, ok
}
