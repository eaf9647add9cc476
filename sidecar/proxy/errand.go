package proxy

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// errand is one request to a modern workload on somebody's behalf, with
// whatever has to be asked besides.
type errand struct {
	p    *Proxy
	conv upstream.Conversation
	// principal is on whose behalf: what is known of tools is kept apart.
	principal string
	// envelope gives the raw _meta of requests of our own for the same caller.
	envelope func() []byte
	// fields are the Mcp-Param headers that the client sent.
	fields  []paramheader.Field
	request peer.Request
}

// run makes the request. What the workload certainly did not run, or only
// reads, is asked again once (B0.5, B3.8): after a loss, after -32020 with
// headers from a fresh list of tools (B5.8), and after -32022 (B16).
func (e *errand) run(ctx context.Context) (peer.Answer, error) {
	var lost, mirrored, negotiated bool
	for {
		r := e.request
		if e.conv.Headers() {
			r.Name, r.Fields = e.mirror(ctx, mirrored)
		}
		answer, err := e.p.call(ctx, e.conv, r)
		switch {
		case err != nil && !lost && repeatable(r.Method, err) && ctx.Err() == nil:
			lost = true
			continue
		case err != nil && !negotiated && refusedUnread(err):
			// So answers a workload of another era; if that is what it is now,
			// the next request is made as that era wants it (B1.5).
			_, _ = e.conv.Discover(ctx)
			return answer, err
		case err != nil || answer.Err == nil:
		case answer.Err.Code == mcp.CodeHeaderMismatch && !mirrored && e.conv.Headers():
			mirrored = true
			continue
		case answer.Err.Code == mcp.CodeUnsupportedRevision && !negotiated:
			negotiated = true
			if _, err := e.conv.Discover(ctx); err == nil {
				continue
			}
		}
		return answer, err
	}
}

// refusedUnread: an HTTP status instead of an answer, as servers give it that
// miss a session.
func refusedUnread(err error) bool {
	var f *peer.Failure
	return errors.As(err, &f) && f.Reason == peer.Status && f.Status >= 400 && f.Status < 500
}

// mirror is what the headers of the request repeat of its body, as it is sent
// (B5.7). For a tool that nobody has listed yet the list is asked for first;
// fresh asks for it in any case (B5.8).
func (e *errand) mirror(ctx context.Context, fresh bool) (name string, fields []peer.Field) {
	profile, _ := mcp.Lookup(e.conv.Discovered().Revision)
	m, ok := profile.Method(e.request.Method)
	if !ok || m.NameParam == "" {
		return "", nil
	}
	raw, _ := strictjson.Get(e.request.Params, m.NameParam)
	name, _ = strictjson.String(raw)
	if m.Name != mcp.MethodToolsCall || name == "" {
		return name, nil
	}
	t := e.tool(ctx, name, fresh)
	for _, f := range e.fields {
		if !t.repeats(f.Name) {
			fields = append(fields, peer.Field(f)) // nobody here knows what it is (W15.8)
		}
	}
	if t.params == nil {
		return name, fields
	}
	arguments, _ := strictjson.Get(e.request.Params, "arguments")
	for _, f := range t.params.Fields(arguments) {
		fields = append(fields, peer.Field(f))
	}
	return name, fields
}

// repeats reports whether a header is one that the tool's schema asks for.
func (t tool) repeats(header string) bool {
	return slices.ContainsFunc(t.params, func(p paramheader.Param) bool { return strings.EqualFold(p.Header, header) })
}

// tool is what is known of a tool, after asking for the list where nothing is.
func (e *errand) tool(ctx context.Context, name string, fresh bool) tool {
	t, known := e.p.tools.find(e.principal, name)
	if known && !fresh {
		return t
	}
	if e.p.tools.refresh(ctx, e.principal, fresh, e.listTools) {
		t, _ = e.p.tools.find(e.principal, name)
	}
	return t
}

// listTools reads all pages of tools/list; each goes to page. It reports
// whether the end was reached.
func (e *errand) listTools(ctx context.Context, page func(result []byte)) bool {
	return e.p.listTools(ctx, e.conv, e.envelope(), page)
}

// listTools reads all pages of a workload's tools/list; envelope is the raw
// _meta of the requests, nil for none.
func (p *Proxy) listTools(ctx context.Context, on upstream.Caller, envelope []byte, page func(result []byte)) bool {
	cursor := ""
	for range maxToolPages {
		var params []byte
		switch {
		case envelope != nil:
			params = append(append(append([]byte(`{`+cursor), `"_meta":`...), envelope...), '}')
		case cursor != "":
			params = []byte(`{` + strings.TrimSuffix(cursor, ",") + `}`)
		}
		answer, err := p.call(ctx, on, peer.Request{Method: mcp.MethodToolsList, Params: params})
		if err != nil || answer.Err != nil {
			return false
		}
		page(answer.Result)
		next, ok := strictjson.Get(answer.Result, "nextCursor")
		text := `"cursor":` + string(next) + `,`
		if !ok || strictjson.IsNull(next) || text == cursor {
			return true
		}
		cursor = text
	}
	return true
}
