package upstream

import (
	"maps"
	"slices"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// MaxSubscriptions bounds what is remembered of one leg: the workload has all
// of them, its successor only the first of these.
const MaxSubscriptions = 1024

// Memory is what a leg has told the workload to keep, so that the next session
// or process can be told the same (B3.7, B3.8, P15). The zero value is ready;
// all methods may be called concurrently.
type Memory struct {
	mu            sync.Mutex
	level         []byte            // params of the last logging/setLevel
	subscriptions map[string][]byte // params of resources/subscribe by raw URI
}

// Remember notes what a request that was answered has set.
func (m *Memory) Remember(r peer.Request, answer peer.Answer) {
	if answer.Err != nil {
		return
	}
	switch r.Method {
	case mcp.MethodSetLevel, mcp.MethodSubscribe, mcp.MethodUnsubscribe:
	default:
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	uri, _ := strictjson.Get(r.Params, "uri")
	switch r.Method {
	case mcp.MethodSetLevel:
		m.level = r.Params
	case mcp.MethodSubscribe:
		if m.subscriptions == nil {
			m.subscriptions = map[string][]byte{}
		}
		if len(m.subscriptions) < MaxSubscriptions {
			m.subscriptions[string(uri)] = r.Params
		}
	case mcp.MethodUnsubscribe:
		delete(m.subscriptions, string(uri))
	}
}

// Again are the requests that bring a new session to where the old one was.
func (m *Memory) Again() (out []peer.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.level != nil {
		out = append(out, peer.Request{Method: mcp.MethodSetLevel, Params: m.level})
	}
	for _, uri := range slices.Sorted(maps.Keys(m.subscriptions)) {
		out = append(out, peer.Request{Method: mcp.MethodSubscribe, Params: m.subscriptions[uri]})
	}
	return out
}

// URIs are the raw URIs that are subscribed to, sorted.
func (m *Memory) URIs() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.subscriptions))
}

// Missed are the notifications that tell a client that it may have missed some
// while its workload was restarted (B10.7): that each list has changed of
// which the workload would say so, and each resource of uris (raw).
func Missed(capabilities []byte, uris []string) (out []*jsonrpc.Message) {
	note := func(method string, params []byte) {
		m, err := jsonrpc.Parse(jsonrpc.EncodeNotification(method, params), strictjson.FromWorkload)
		if err == nil {
			out = append(out, m)
		}
	}
	for _, list := range []struct{ capability, method string }{
		{"tools", mcp.NotifyToolsChanged}, {"prompts", mcp.NotifyPromptsChanged}, {"resources", mcp.NotifyResourcesChanged},
	} {
		if says, _ := strictjson.GetPath(capabilities, list.capability, "listChanged"); string(says) == "true" {
			note(list.method, nil)
		}
	}
	for _, uri := range uris {
		note(mcp.NotifyResourceUpdated, []byte(`{"uri":`+uri+`}`))
	}
	return out
}
