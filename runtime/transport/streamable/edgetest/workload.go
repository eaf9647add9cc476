package edgetest

import (
	"context"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// workload is the server behind the endpoint; it counts what it serves.
type workload struct {
	// serve answers instead; set before the endpoint is.
	serve func(x *dispatch.Exchange) dispatch.Outcome

	mu       sync.Mutex
	calls    int
	sessions []dispatch.Session
}

const declares = `"capabilities":{"tools":{},"prompts":{},"resources":{},"logging":{},"completions":{}}`

// Open implements dispatch.Server.
func (w *workload) Open(_ context.Context, _ *dispatch.Exchange, s dispatch.Session) dispatch.Outcome {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions = append(w.sessions, s)
	return dispatch.Result([]byte(`{"protocolVersion":"` + s.Revision() + `",` + declares + `,"serverInfo":{"name":"t","version":"1"}}`))
}

// Serve implements dispatch.Server.
func (w *workload) Serve(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
	method := x.Msg.Method
	switch {
	case method == mcp.MethodDiscover:
		return dispatch.Result([]byte(`{"resultType":"complete","supportedVersions":["` + mcp.Revision20260728 + `"],` + declares + `,"ttlMs":0,"cacheScope":"private"}`))
	case method == mcp.MethodToolsList:
		return dispatch.Result([]byte(`{"tools":[]}`)) // which the way here may ask for by itself
	case strings.HasPrefix(method, "tasks/"), strings.HasPrefix(method, "no/"), method == mcp.MethodListen:
		return dispatch.Fail(jsonrpc.Errorf(jsonrpc.CodeMethodNotFound, "method not found"))
	}
	w.mu.Lock()
	w.calls++
	w.mu.Unlock()
	if w.serve != nil {
		return w.serve(x)
	}
	return dispatch.Result([]byte(`{` + required(method) + `"echo":"` + method + `"}`))
}

// required is the member that a result must have.
func required(method string) string {
	switch method {
	case mcp.MethodPromptsList:
		return `"prompts":[],`
	case mcp.MethodPromptsGet:
		return `"messages":[],`
	case mcp.MethodToolsCall:
		return `"content":[],`
	case mcp.MethodResourcesRead:
		return `"contents":[],`
	}
	return ""
}

// Notify implements dispatch.Server.
func (w *workload) Notify(context.Context, dispatch.Session, *jsonrpc.Message) {}

// Closed implements dispatch.Server.
func (w *workload) Closed(dispatch.Session, error) {}

func (w *workload) served() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

// last is the session that was opened last.
func (w *workload) last() dispatch.Session {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[len(w.sessions)-1]
}
