package peer

import (
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// owner finds the call that a request of the server belongs to, first match
// wins (B6.1): the one that waits for the result of the task it names; the
// stream it came on; else, unless it names a task, the one call in flight that
// may cause such requests; else none.
func (p *Peer) owner(m *jsonrpc.Message, via *Call) *Call {
	if id := relatedTask(m); id != "" {
		c := p.sole(func(c *Call) bool { return c.task == id })
		if c == nil {
			return via
		}
		return c
	}
	if via != nil {
		return via
	}
	return p.sole(func(c *Call) bool { return mayAsk(c.method) })
}

// relatedTask is the id of the task that a message names, empty for none.
func relatedTask(m *jsonrpc.Message) string {
	raw, _ := strictjson.GetPath(m.Meta, mcp.MetaRelatedTask, "taskId")
	id, _ := strictjson.String(raw)
	return id
}

// mayAsk lists the methods during which a server may ask the client (B6.1,
// B12.10).
func mayAsk(method string) bool {
	switch method {
	case "tools/call", "prompts/get", "resources/read", "tasks/result":
		return true
	}
	return false
}

// sole returns the only call in flight that fits, or nil.
func (p *Peer) sole(fits func(*Call) bool) *Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	var found *Call
	for _, c := range p.pending {
		if !fits(c) {
			continue
		}
		if found != nil {
			return nil
		}
		found = c
	}
	return found
}
