package peer

import (
	"strconv"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ourID reads an id or token that we minted: an integer, or its decimal string
// (R6).
func ourID(raw string) (id int64, isString, ok bool) {
	if len(raw) >= 2 && raw[0] == '"' {
		raw, isString = raw[1:len(raw)-1], true
	}
	id, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || id < 1 || raw[0] < '1' { // as we spell it: no sign, no zero in front
		return 0, isString, false
	}
	return id, isString, true
}

// restored gives a progress notification the caller's token back. It reports
// false for one that must not go on: not asked for, or not rising (W20.3).
func (c *Call) restored(m *jsonrpc.Message) (*jsonrpc.Message, bool) {
	raw, _ := strictjson.Get(m.Params, "progress")
	value, err := strconv.ParseFloat(string(raw), 64)
	if c.token == nil || err != nil {
		return nil, false
	}
	c.mu.Lock()
	rising := !c.reported || value > c.progress
	if rising {
		c.reported, c.progress = true, value
	}
	c.mu.Unlock()
	if !rising {
		return nil, false
	}
	edited, err := strictjson.Splice(m.Raw, strictjson.Set(c.token, "params", "progressToken"))
	if err != nil {
		return nil, false
	}
	back, err := jsonrpc.Parse(edited, strictjson.FromWorkload)
	return back, err == nil
}
