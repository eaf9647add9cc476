package streamable

import (
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// modern serves a request that carries its own envelope, in the order of W16.3
// as amended by P34: version key, header equal to it, version supported, rest
// of the envelope, mirror headers, method, Mcp-Param-*.
func (p *posted) modern(header string, claimed []byte) (kept bool, refusal *refusal) {
	revision, ok := strictjson.String(claimed)
	if !ok {
		return false, badEnvelope(p.msg.ID, mcp.MetaProtocolVersion+" must be a string")
	}
	if header != revision && !broken.Rule("W14.17") {
		return false, mismatch(p.msg.ID, "MCP-Protocol-Version must equal the version in _meta")
	}
	profile, offered := p.settings.Revisions.Lookup(revision)
	if !offered || profile.Handshake {
		return false, p.unsupported(revision)
	}
	capabilities, refusal := p.envelope()
	if refusal != nil {
		return false, refusal
	}
	if refusal := p.mirrors(profile); refusal != nil {
		return false, refusal
	}
	info, _ := strictjson.Get(p.msg.Meta, mcp.MetaClientInfo)
	req := dispatch.Request{
		Msg: p.msg, Profile: profile, Principal: p.principal, Identity: p.identity, Caller: p,
		ClientCapabilities: capabilities, ClientInfo: info, Fields: p.fields(),
	}
	if o, answered := p.s.dispatcher.Answer(p.r.Context(), req); answered {
		status := http.StatusNotFound // W14.12, W14.13
		if broken.Rule("W14.12") {
			status = http.StatusOK
		}
		p.JSON(status, encode(p.msg.ID, o))
		return false, nil
	}
	if raw, ok := strictjson.Get(p.msg.Meta, mcp.MetaLogLevel); ok {
		if level, _ := strictjson.String(raw); !mcp.LogLevel(level) {
			return false, refuse(http.StatusOK, hook.RejectMessage, jsonrpc.CodeInvalidParams, "unknown log level").about(p.msg.ID) // W23.8
		}
	}
	if refusal := p.params(); refusal != nil {
		return false, refusal
	}
	method, _ := profile.Method(p.msg.Method)
	return p.run(req, method, p.s.serve)
}

// notice takes a notification without a session; core has none over HTTP
// (B2.5).
func (p *posted) notice(header string) {
	profile, _ := mcp.Lookup(header)
	p.s.dispatcher.Take(p.r.Context(), dispatch.Request{Msg: p.msg, Profile: profile, Principal: p.principal, Identity: p.identity, Caller: p}, nil)
	p.Accepted()
}

// envelope checks the rest of the required metadata (W6.5, W6.6) and returns
// the capabilities. clientInfo may be missing (W6.7).
func (p *posted) envelope() ([]byte, *refusal) {
	capabilities, ok := strictjson.Get(p.msg.Meta, mcp.MetaClientCapabilities)
	if !ok && broken.Rule("W6.6") {
		return []byte("{}"), nil
	}
	if !ok {
		return nil, badEnvelope(p.msg.ID, "_meta lacks "+mcp.MetaClientCapabilities)
	}
	if !strictjson.IsObject(capabilities) {
		return nil, badEnvelope(p.msg.ID, mcp.MetaClientCapabilities+" must be an object")
	}
	if info, ok := strictjson.Get(p.msg.Meta, mcp.MetaClientInfo); ok && !strictjson.IsObject(info) {
		return nil, badEnvelope(p.msg.ID, mcp.MetaClientInfo+" must be an object")
	}
	return capabilities, nil
}

// mirrors compares Mcp-Method and Mcp-Name with the body (W15). The body is
// what is acted on.
func (p *posted) mirrors(profile mcp.Profile) *refusal {
	method, ok := p.r.Header[headerMethod]
	if (!ok || method[0] != p.msg.Method) && !broken.Rule("W15.2") {
		return mismatch(p.msg.ID, "Mcp-Method must equal the method")
	}
	m, known := profile.Method(p.msg.Method)
	if !known || m.NameParam == "" {
		return nil
	}
	raw, _ := strictjson.Get(p.msg.Params, m.NameParam)
	name, isText := strictjson.String(raw)
	values, given := p.r.Header[headerName]
	if !isText {
		// The params are wrong, which is the handler's to say; a header could
		// not equal them.
		if given {
			return mismatch(p.msg.ID, "Mcp-Name repeats nothing in the params")
		}
		return nil
	}
	if !given {
		return mismatch(p.msg.ID, "Mcp-Name is required")
	}
	value, ok := paramheader.Decode(values[0])
	if broken.Rule("W15.4") {
		value = values[0]
	}
	if !ok || value != name {
		return mismatch(p.msg.ID, "Mcp-Name must equal params."+m.NameParam)
	}
	return nil
}

// params compares Mcp-Param-* with the arguments of a tool call (W15.17). A
// schema whose annotations are invalid asks for nothing: its clients do not see
// the tool (W15.15).
func (p *posted) params() *refusal {
	if p.s.ParamSchema == nil || p.msg.Method != mcp.MethodToolsCall {
		return nil
	}
	raw, _ := strictjson.Get(p.msg.Params, "name")
	name, ok := strictjson.String(raw)
	if !ok {
		return nil
	}
	schema, ok := p.s.ParamSchema(name)
	if !ok {
		return nil
	}
	params, err := paramheader.Parse(schema)
	if err != nil || params == nil {
		return nil
	}
	arguments, _ := strictjson.Get(p.msg.Params, "arguments")
	err = params.Check(func(name string) (string, bool) {
		values := p.r.Header.Values(name)
		if len(values) == 0 {
			return "", false
		}
		return values[0], true // one at most, or the edge had refused it
	}, arguments)
	if err != nil {
		return mismatch(p.msg.ID, err.Error())
	}
	return nil
}

// Bounds of the Mcp-Param fields that are handed on (P25).
const (
	maxParams     = 32
	maxParamBytes = 8 << 10
)

// fields are the Mcp-Param headers of a call, in order, nil when there are none
// or more than may be.
func (p *posted) fields() (out []paramheader.Field) {
	if p.msg.Method != mcp.MethodToolsCall {
		return nil
	}
	size := 0
	for name, values := range p.r.Header {
		if !strings.HasPrefix(name, paramheader.Prefix) {
			continue
		}
		text, ok := paramheader.Decode(values[0])
		if size += len(name) + len(values[0]); size > maxParamBytes || len(out) == maxParams {
			return nil
		}
		if ok {
			out = append(out, paramheader.Field{Name: name, Value: text})
		}
	}
	slices.SortFunc(out, func(a, b paramheader.Field) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func missingEnvelope(id jsonrpc.ID) *refusal {
	return badEnvelope(id, "params._meta lacks "+mcp.MetaProtocolVersion+" and "+mcp.MetaClientCapabilities)
}

func badEnvelope(id jsonrpc.ID, text string) *refusal {
	return refuse(http.StatusBadRequest, hook.RejectMessage, jsonrpc.CodeInvalidParams, text).about(id)
}

func mismatch(id jsonrpc.ID, text string) *refusal {
	return refuse(http.StatusBadRequest, hook.RejectHeaderMismatch, mcp.CodeHeaderMismatch, text).about(id)
}

// unsupported names the modern revisions only, so that a client cannot loop
// (B2.2). Where none is served it says what servers say that know of none, so
// that clients go on with initialize.
func (p *posted) unsupported(requested string) *refusal {
	modern := p.settings.Revisions.Modern()
	if len(modern) == 0 {
		return invalid(http.StatusBadRequest, hook.RejectRevision, "protocol version is not supported").about(p.msg.ID)
	}
	f := refuse(http.StatusBadRequest, hook.RejectRevision, mcp.CodeUnsupportedRevision, "protocol version is not supported").about(p.msg.ID)
	data := []byte(`{"supported":[`)
	for i, revision := range modern {
		if i > 0 {
			data = append(data, ',')
		}
		data = strictjson.Quote(data, revision)
	}
	data = append(data, `],"requested":`...)
	f.Data = append(strictjson.Quote(data, requested), '}')
	return f
}

// repeated refuses a field that came twice (P33.6).
func (q *request) repeated(name string) *refusal {
	if mcp.ClaimsModern(q.field(headerVersion)) {
		return refuse(http.StatusBadRequest, hook.RejectHeaderMismatch, mcp.CodeHeaderMismatch, "header "+name+" is there twice").closing()
	}
	return invalid(http.StatusBadRequest, hook.RejectHeader, "header "+name+" is there twice").closing()
}
