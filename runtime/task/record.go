package task

import (
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Record is a task as a Store keeps it. Slices in it are never changed in
// place, by nobody: a store may keep and hand out the same ones.
type Record struct {
	// Key is the identity of the task in the store: lower-case hex, 32 digits.
	Key string
	// Version is counted up by the store with each change; 1 is the first.
	Version uint64
	// Token is the task id of the wire. It is kept, because sealing again
	// would make another one.
	Token string
	// Principal is a digest of whose task it is.
	Principal string
	// Owner is what bounds and lists go by: the principal's, or the bucket of
	// an anonymous caller.
	Owner string

	// Method is the request that became the task.
	Method  string
	Status  Status
	Message string // statusMessage
	// IsError tells of a completed task that its result says isError.
	IsError bool
	// Created and Updated are when the task began, and when something that a
	// client can see last changed.
	Created, Updated time.Time
	// Changes counts those changes.
	Changes uint64
	// TTL counts from Created. From Expires on the task is unknown.
	TTL     time.Duration
	Expires time.Time
	Poll    time.Duration

	// Runner is the process that runs the task, Lease until when it is
	// believed to; a zero Lease means for ever.
	Runner string
	Lease  time.Time

	// Asked counts the questions of the task's whole life (W36.12).
	Asked  uint64
	Inputs []Input
	// Result and Err are the outcome of a terminal task; neither is set when
	// it was cancelled.
	Result []byte
	Err    *jsonrpc.Error
}

// Input is one question to the client, until the work has taken the answer.
type Input struct {
	// Key is unique for the task's whole life.
	Key    string
	Method string
	Params []byte // raw, nil for none
	// Result or Err is the answer; neither is set while there is none.
	Result []byte
	Err    *jsonrpc.Error
	// Carrier is the stream that carries the question to the client at the
	// moment, Until how long it may be believed to (B12.4).
	Carrier string
	Until   time.Time
}

// Answered reports whether the answer is in.
func (i *Input) Answered() bool { return i.Result != nil || i.Err != nil }

// Due is when somebody has to look after the record: when it expires, or when
// the lease of who runs it ends. Stores keep an index by it.
func (r *Record) Due() time.Time {
	if !r.Status.Terminal() && !r.Lease.IsZero() && r.Lease.Before(r.Expires) {
		return r.Lease
	}
	return r.Expires
}

// Head is the record without what can be large, as Store.List returns it.
func (r *Record) Head() Record {
	h := *r
	h.Inputs, h.Result, h.Err = nil, nil, nil
	return h
}

// Size is about how many bytes the record takes. Small ones all count the same,
// so that a task which could be kept can also be ended.
func (r *Record) Size() int {
	n := 512 + len(r.Token) + len(r.Message) + len(r.Result)
	n += errorSize(r.Err)
	for i := range r.Inputs {
		in := &r.Inputs[i]
		n += 192 + len(in.Key) + len(in.Params) + len(in.Result) + errorSize(in.Err)
	}
	return max(n, 1<<10)
}

// errorSize is how many bytes an error brings.
func errorSize(e *jsonrpc.Error) int {
	if e == nil {
		return 0
	}
	return len(e.Message) + len(e.Data) + len(e.Raw)
}

// asked reports whether a question waits for its answer.
func (r *Record) asked() bool {
	for i := range r.Inputs {
		if !r.Inputs[i].Answered() {
			return true
		}
	}
	return false
}

// settle sets the status that follows from the questions of a running task.
func (r *Record) settle() {
	r.Status = Working
	if r.asked() {
		r.Status = InputRequired
	}
}

// close makes the record that of a task which came to an outcome. Whatever
// failed is said in the status message (W35.19, W36.11).
func (r *Record) close(o jsonrpc.Outcome) {
	r.Inputs = nil
	r.Result, r.Err = o.Result, o.Err
	if o.Err != nil {
		r.Status, r.Message = Failed, cut(o.Err.Message)
		return
	}
	r.Status = Completed
	if broken.Rule("W36.11") {
		r.Status = Failed
	}
	isError, _ := strictjson.Get(o.Result, "isError")
	if r.IsError = string(isError) == "true"; r.IsError {
		r.Message = cut(firstText(o.Result))
	}
}

// firstText is the first piece of text of a tool result, or one of our own.
func firstText(result []byte) string {
	content, _ := strictjson.Get(result, "content")
	text := ""
	strictjson.Elements(content, func(piece []byte) bool {
		raw, _ := strictjson.Get(piece, "text")
		text, _ = strictjson.String(raw)
		return text == ""
	})
	if text == "" {
		return "the tool reported an error"
	}
	return text
}
