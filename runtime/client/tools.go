package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Tool is one entry of tools/list. Fields are read-only; what they leave out is
// in Raw. Schemas are the server's bytes and no $ref in them is ever followed
// (W25.3).
type Tool struct {
	Name, Title, Description string
	// InputSchema and OutputSchema are raw, nil without.
	InputSchema, OutputSchema json.RawMessage
	// ReadOnly, Destructive, Idempotent and OpenWorld are the server's hints
	// with the protocol's defaults; they are not to be trusted (W24.16).
	ReadOnly, Destructive, Idempotent, OpenWorld bool
	// TaskSupport is 2025-11-25's: "", "forbidden", "optional", "required".
	TaskSupport string
	// Raw is the whole entry.
	Raw json.RawMessage
}

func readTool(raw json.RawMessage) Tool {
	hints := member(raw, "annotations")
	return Tool{
		Name:         text(raw, "name"),
		Title:        text(raw, "title"),
		Description:  text(raw, "description"),
		InputSchema:  member(raw, "inputSchema"),
		OutputSchema: member(raw, "outputSchema"),
		ReadOnly:     flag(hints, "readOnlyHint"),
		Destructive:  string(member(hints, "destructiveHint")) != "false",
		Idempotent:   flag(hints, "idempotentHint"),
		OpenWorld:    string(member(hints, "openWorldHint")) != "false",
		TaskSupport:  text(raw, "execution", "taskSupport"),
		Raw:          raw,
	}
}

// Tools yields all tools in the server's order; an error is the last thing that
// it yields. Entries without a name are skipped, and over HTTP those of a
// stateless server whose x-mcp-header annotations break the rules (W15.15).
func (c *Client) Tools(ctx context.Context, opts ...CallOption) iter.Seq2[Tool, error] {
	return func(yield func(Tool, error) bool) {
		seen := map[string]known{}
		whole := true
		for t, err := range all(ctx, c, list[Tool]{mcp.MethodToolsList, "tools", readTool}, opts) {
			if err != nil {
				yield(Tool{}, err)
				return
			}
			entry, ok := c.look(t)
			if !ok {
				continue
			}
			seen[t.Name] = entry
			if !yield(t, nil) {
				whole = false
				break
			}
		}
		c.tools.put(seen, whole)
	}
}

// ListTools is Tools, all at once.
func (c *Client) ListTools(ctx context.Context, opts ...CallOption) ([]Tool, error) {
	return collect(c.Tools(ctx, opts...))
}

// look judges an entry of a list.
func (c *Client) look(t Tool) (known, bool) {
	if t.Name == "" {
		return known{}, false
	}
	entry := known{again: t.Idempotent || t.ReadOnly, task: t.TaskSupport}
	if c.opts.CheckOutput != nil {
		entry.output = t.OutputSchema
	}
	v := c.newest()
	if v.binding == mcp.Streamable && !v.profile.Handshake {
		m, err := paramheader.Parse(t.InputSchema)
		if err != nil {
			if f := c.opts.Observer.ToolDropped; f != nil {
				f(t.Name)
			}
			return known{}, false
		}
		entry.mirrors = m
	}
	return entry, true
}

// known is what calls need to know of a tool.
type known struct {
	mirrors paramheader.Params
	again   bool            // idempotent or read-only, says the server
	task    string          // taskSupport
	output  json.RawMessage // schema, kept only where somebody checks
}

// catalog remembers the tools of the last list.
type catalog struct {
	mu     sync.Mutex
	byName map[string]known
}

// maxCatalog bounds what is remembered; a list may be longer.
const maxCatalog = 100_000

// put takes a list; one that was not read to its end adds to what is known.
func (s *catalog) put(m map[string]known, whole bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if whole || s.byName == nil || len(s.byName)+len(m) > maxCatalog {
		s.byName = m
		return
	}
	for name, entry := range m {
		s.byName[name] = entry
	}
}

// stale forgets what a tool's repetition would rest on.
func (s *catalog) stale() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, entry := range s.byName {
		entry.again = false
		s.byName[name] = entry
	}
}

func (s *catalog) get(name string) known {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byName[name]
}

func (s *catalog) idempotent(name string) bool { return s.get(name).again }

// fields are the headers of one call (W15.16): annotated arguments that are
// present and not null.
func (s *catalog) fields(tool string, arguments []byte) (out []peer.Field) {
	for _, f := range s.get(tool).mirrors.Fields(arguments) {
		out = append(out, peer.Field(f))
	}
	return out
}

// ToolResult is what a tool said. Fields are read-only.
type ToolResult struct {
	Content []Content
	// Structured is structuredContent, raw; nil without.
	Structured json.RawMessage
	// IsError: the tool ran and failed; Content says how.
	IsError bool
	// Raw is the whole result.
	Raw json.RawMessage
}

// Text is the text of all text blocks, one a line.
func (r *ToolResult) Text() string { return joined(r.Content) }

func readToolResult(raw json.RawMessage) *ToolResult {
	return &ToolResult{
		Content:    blocks(member(raw, "content")),
		Structured: member(raw, "structuredContent"),
		IsError:    flag(raw, "isError"),
		Raw:        raw,
	}
}

// OutputError says that a tool's structured output is not as its list says.
type OutputError struct {
	Tool string
	// Result is what the tool said.
	Result *ToolResult
	// Err is what Options.CheckOutput found.
	Err error
}

// Error implements error.
func (e *OutputError) Error() string {
	return fmt.Sprintf("client: the output of %q breaks its schema: %v", e.Tool, e.Err)
}

// Unwrap gives the cause.
func (e *OutputError) Unwrap() error { return e.Err }

// toolResult reads a tool's result and has its output checked, where the last
// list has a schema for it (W24.9).
func (c *Client) toolResult(name string, raw json.RawMessage) (*ToolResult, error) {
	if err := isObject(mcp.MethodToolsCall, raw); err != nil {
		return nil, err
	}
	r := readToolResult(raw)
	schema := c.tools.get(name).output
	if schema == nil || r.Structured == nil || r.IsError {
		return r, nil
	}
	if err := c.opts.CheckOutput(schema, r.Structured); err != nil {
		return nil, &OutputError{Tool: name, Result: r, Err: err}
	}
	return r, nil
}

// CallTool calls a tool and waits for what it says. arguments is anything that
// becomes a JSON object, or nil for none; raw JSON stays as it is. Questions of
// the tool are answered by the Handlers, and a tool that runs as a task is
// waited for. A failure of the tool itself is a result with IsError. Errors as
// of Call, and ErrInputRequired.
func (c *Client) CallTool(ctx context.Context, name string, arguments any, opts ...CallOption) (*ToolResult, error) {
	o := options(opts)
	if c.tools.get(name).task == "required" && c.Profile().Handshake {
		t, err := c.startTool(ctx, name, arguments, TaskOptions{}, o) // W24.15
		if err != nil {
			return nil, err
		}
		return t.Wait(ctx)
	}
	r, err := c.toolCall(name, arguments, o)
	if err != nil {
		return nil, err
	}
	raw, kind, err := c.callTool(ctx, r)
	if err != nil {
		return nil, err
	}
	if kind == resultTask {
		return c.taskOf(name, raw, true).Wait(ctx)
	}
	return c.toolResult(name, raw)
}

// toolCall is a tools/call to make.
func (c *Client) toolCall(name string, arguments any, o callOptions) (*request, error) {
	args, err := encodedObject("arguments", arguments)
	if err != nil {
		return nil, err
	}
	var params object
	params.set("name", strictjson.Quote(nil, name))
	if args != nil {
		params.set("arguments", args)
	}
	return &request{
		method: mcp.MethodToolsCall,
		params: params.bytes(),
		opts:   o,
		fields: func(*conversation) []peer.Field { return c.tools.fields(name, args) },
	}, nil
}

// callTool makes a tools/call. A stateless server that misses headers is asked
// for its schemas, which say what is repeated there, and called again; what it
// refused it did not run (W15.21).
func (c *Client) callTool(ctx context.Context, r *request) (json.RawMessage, string, error) {
	raw, kind, v, err := c.rounds(ctx, r)
	if rpc := rpcError(err); rpc != nil && rpc.Code == mcp.CodeHeaderMismatch && v.binding == mcp.Streamable {
		if _, err := c.ListTools(ctx); err != nil {
			return nil, "", err
		}
		raw, kind, _, err = c.rounds(ctx, r)
	}
	return raw, kind, err
}
