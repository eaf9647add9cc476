package proxy

import (
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/task/endpoint"
)

var _ dispatch.Prompt = (*Proxy)(nil)

// Prompt implements dispatch.Prompt: requests that wait for one answer of the
// workload, and for nothing once their context has ended. Others have something
// to end first: a task of the workload's, a call that is parked, a log level
// that is being set.
func (p *Proxy) Prompt(x *dispatch.Exchange) bool {
	m, known := x.Method()
	if !known || m.Needs == mcp.CapTasks || m.Extension != "" {
		return false
	}
	switch m.Name {
	case mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe, mcp.MethodListen:
		return false
	}
	if s := x.Session(); s != nil {
		if _, legacy := s.Value().(*session); !legacy {
			return false
		}
		return m.Name != mcp.MethodToolsCall || !p.lingers.Load() && !(p.offersTasks(x.Profile()) && endpoint.Named(x.Msg.Params))
	}
	return !x.Profile().Handshake && x.LogLevel() == "" && !p.lingers.Load() && !p.mlMayAsk(x)
}

// mayLinger notes what a leg's workload said of itself: where calls may run as
// tasks of its own, they are ended there before they are over here (B12.13).
func (p *Proxy) mayLinger(capabilities []byte) {
	if !p.lingers.Load() && capTaskCalls.Declared(capabilities) {
		p.lingers.Store(true)
	}
}
