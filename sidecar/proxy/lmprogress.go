package proxy

import (
	"math"
	"strconv"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// rising lets progress pass that is more than what has passed (W20.3, B11.4).
// The zero value is ready.
type rising struct {
	mu   sync.Mutex
	any  bool
	last float64
}

// takes reports whether the progress of a notification rises, and takes note of
// it.
func (r *rising) takes(params []byte) bool {
	raw, _ := strictjson.Get(params, "progress")
	value, err := strconv.ParseFloat(string(raw), 64)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil || r.any && value <= r.last {
		return false
	}
	r.any, r.last = true, value
	return true
}

// next is one more than what has passed; false where no number is.
func (r *rising) next() (value float64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value = math.Floor(r.last) + 1
	if ok = value > r.last; ok {
		r.any, r.last = true, value
	}
	return value, ok
}

// progress shows a status message of the workload's task: as the client's
// task's own, or as progress of the request.
func (a *asking) progress(c *lmCall, text string) {
	if a.h != nil {
		a.h.Status(text)
		return
	}
	token := a.x.ProgressToken()
	if token == nil {
		return
	}
	value, ok := c.shown.next()
	if !ok {
		return
	}
	params := append(append([]byte(`{"progressToken":`), token...), `,"progress":`...)
	params = strconv.AppendFloat(params, value, 'f', -1, 64)
	if a.s.profile.ProgressMessage {
		params = strictjson.Quote(append(params, `,"message":`...), text)
	}
	if a.x.Notify(jsonrpc.EncodeNotification(mcp.NotifyProgress, append(params, '}'))) != nil {
		a.s.p.lossy(LossyNotification)
	}
}
