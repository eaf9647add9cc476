package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Prompt is one entry of prompts/list. Fields are read-only.
type Prompt struct {
	Name, Title, Description string
	Arguments                []PromptArgument
	Raw                      json.RawMessage
}

// PromptArgument is one argument of a prompt.
type PromptArgument struct {
	Name, Title, Description string
	Required                 bool
	Raw                      json.RawMessage
}

func readPrompt(raw json.RawMessage) Prompt {
	p := Prompt{Name: text(raw, "name"), Title: text(raw, "title"), Description: text(raw, "description"), Raw: raw}
	each(member(raw, "arguments"), func(one json.RawMessage) {
		p.Arguments = append(p.Arguments, PromptArgument{
			Name: text(one, "name"), Title: text(one, "title"), Description: text(one, "description"),
			Required: flag(one, "required"), Raw: one,
		})
	})
	return p
}

// Prompts yields all prompts; see Tools.
func (c *Client) Prompts(ctx context.Context, opts ...CallOption) iter.Seq2[Prompt, error] {
	return all(ctx, c, list[Prompt]{mcp.MethodPromptsList, "prompts", readPrompt}, opts)
}

// PromptResult is a prompt with its arguments filled in.
type PromptResult struct {
	Description string
	Messages    []Message
	Raw         json.RawMessage
}

// GetPrompt fills a prompt in. arguments may be nil.
func (c *Client) GetPrompt(ctx context.Context, name string, arguments map[string]string, opts ...CallOption) (*PromptResult, error) {
	var params object
	params.set("name", strictjson.Quote(nil, name))
	if arguments != nil {
		params.set("arguments", textsObject(arguments))
	}
	raw, err := c.converse(ctx, &request{method: mcp.MethodPromptsGet, params: params.bytes(), opts: options(opts)})
	if err == nil {
		err = isObject(mcp.MethodPromptsGet, raw)
	}
	if err != nil {
		return nil, err
	}
	return &PromptResult{Description: text(raw, "description"), Messages: messages(raw), Raw: raw}, nil
}

func textsObject(m map[string]string) []byte {
	var o object
	for _, name := range sorted(m) {
		o.set(name, strictjson.Quote(nil, m[name]))
	}
	return o.bytes()
}

// Resource is one entry of resources/list. Fields are read-only.
type Resource struct {
	URI, Name, Title, Description, MIMEType string
	// Size is in bytes, -1 when the server does not say.
	Size int64
	Raw  json.RawMessage
}

func readResource(raw json.RawMessage) Resource {
	r := Resource{
		URI: text(raw, "uri"), Name: text(raw, "name"), Title: text(raw, "title"),
		Description: text(raw, "description"), MIMEType: text(raw, "mimeType"), Size: -1, Raw: raw,
	}
	if n, ok := number(raw, "size"); ok {
		r.Size = int64(n)
	}
	return r
}

// Resources yields all resources; see Tools.
func (c *Client) Resources(ctx context.Context, opts ...CallOption) iter.Seq2[Resource, error] {
	return all(ctx, c, list[Resource]{mcp.MethodResourcesList, "resources", readResource}, opts)
}

// Template is one entry of resources/templates/list. Fields are read-only.
type Template struct {
	URITemplate, Name, Title, Description, MIMEType string
	Raw                                             json.RawMessage
}

func readTemplate(raw json.RawMessage) Template {
	return Template{
		URITemplate: text(raw, "uriTemplate"), Name: text(raw, "name"), Title: text(raw, "title"),
		Description: text(raw, "description"), MIMEType: text(raw, "mimeType"), Raw: raw,
	}
}

// Templates yields all resource templates; see Tools.
func (c *Client) Templates(ctx context.Context, opts ...CallOption) iter.Seq2[Template, error] {
	return all(ctx, c, list[Template]{mcp.MethodTemplatesList, "resourceTemplates", readTemplate}, opts)
}

// ReadResult is what a resource holds, in one or more parts.
type ReadResult struct {
	Contents []ResourceContents
	Raw      json.RawMessage
}

// ReadResource reads a resource. See IsNotFound.
func (c *Client) ReadResource(ctx context.Context, uri string, opts ...CallOption) (*ReadResult, error) {
	raw, err := c.converse(ctx, &request{method: mcp.MethodResourcesRead, params: uriParams(uri), opts: options(opts)})
	if err == nil {
		err = isObject(mcp.MethodResourcesRead, raw)
	}
	if err != nil {
		return nil, err
	}
	out := &ReadResult{Raw: raw}
	each(member(raw, "contents"), func(one json.RawMessage) { out.Contents = append(out.Contents, readContents(one)) })
	return out, nil
}

// IsNotFound reports whether an error of ReadResource says that there is no
// such resource: -32002 in older revisions (W2.6, W26.6), -32602 with the URI
// since (W26.5).
func IsNotFound(err error) bool {
	rpc := rpcError(err)
	if rpc == nil {
		return false
	}
	return rpc.Code == mcp.CodeResourceNotFound || rpc.Code == -32602 && text(rpc.Data, "uri") != ""
}

func uriParams(uri string) []byte {
	var o object
	o.set("uri", strictjson.Quote(nil, uri))
	return o.bytes()
}

// Ref says what is completed: a prompt by its name, or a resource template by
// its URI. Exactly one is set.
type Ref struct{ Prompt, Template string }

// Completion is a list of proposals (W28.2).
type Completion struct {
	Values []string
	// Total is -1 when the server does not say.
	Total   int
	HasMore bool
	Raw     json.RawMessage
}

// Complete asks for values of an argument that begin like value. settled holds
// arguments that have a value already; revisions that know no such context do
// not get it.
func (c *Client) Complete(ctx context.Context, ref Ref, argument, value string, settled map[string]string, opts ...CallOption) (*Completion, error) {
	var params, what, arg object
	switch {
	case ref.Prompt != "" && ref.Template == "":
		what.set("type", []byte(`"ref/prompt"`))
		what.set("name", strictjson.Quote(nil, ref.Prompt))
	case ref.Template != "" && ref.Prompt == "":
		what.set("type", []byte(`"ref/resource"`))
		what.set("uri", strictjson.Quote(nil, ref.Template))
	default:
		return nil, fmt.Errorf("client: a Ref names either a prompt or a template")
	}
	arg.set("name", strictjson.Quote(nil, argument))
	arg.set("value", strictjson.Quote(nil, value))
	params.set("ref", what.bytes())
	params.set("argument", arg.bytes())
	if len(settled) > 0 && c.Profile().CompletionContext {
		var o object
		o.set("arguments", textsObject(settled))
		params.set("context", o.bytes())
	}
	raw, err := c.converse(ctx, &request{method: mcp.MethodComplete, params: params.bytes(), opts: options(opts)})
	if err == nil {
		err = isObject(mcp.MethodComplete, raw)
	}
	if err != nil {
		return nil, err
	}
	out := &Completion{Values: texts(raw, "completion", "values"), Total: -1, HasMore: flag(raw, "completion", "hasMore"), Raw: raw}
	if n, ok := number(raw, "completion", "total"); ok {
		out.Total = int(n)
	}
	return out, nil
}

// Ping asks the server for a sign of life (W21.1). Revisions without it (W21.4)
// are asked who they are instead.
func (c *Client) Ping(ctx context.Context, opts ...CallOption) error {
	method := mcp.MethodPing
	if !c.Profile().Handshake {
		method = mcp.MethodDiscover
	}
	_, err := c.converse(ctx, &request{method: method, opts: options(opts)})
	return err
}

// SetLevel asks for log messages from a level on (W23.10): once for a session,
// which new sessions inherit, or with every request where revisions have it so
// (W6.9).
func (c *Client) SetLevel(ctx context.Context, level string) error {
	if !mcp.LogLevel(level) {
		return fmt.Errorf("client: %q is no log level", level)
	}
	if c.Profile().Handshake {
		if _, err := c.converse(ctx, &request{method: mcp.MethodSetLevel, params: levelParams(level)}); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.level = level
	return nil
}

func levelParams(level string) []byte {
	var o object
	o.set("level", strictjson.Quote(nil, level))
	return o.bytes()
}

// RootsChanged tells a server with a session that Handlers.Roots would answer
// something else now (W31.2); stateless ones ask each time.
func (c *Client) RootsChanged(ctx context.Context) error {
	if c.opts.Handlers.Roots == nil {
		return fmt.Errorf("client: there is no Handlers.Roots")
	}
	if !c.Profile().Handshake {
		return nil
	}
	return c.Notify(ctx, mcp.NotifyRootsChanged, nil)
}
