package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/cardinality"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// SampleRequest is what a server wants a model to do (W29). Fields are
// read-only; what they leave out is in Raw.
type SampleRequest struct {
	Messages     []Message
	SystemPrompt string
	// MaxTokens is the bound that must be kept (W29.5).
	MaxTokens int
	// Temperature is NaN-free: nil when the server does not care.
	Temperature *float64
	// IncludeContext is "", "none", "thisServer" or "allServers".
	IncludeContext string
	StopSequences  []string
	// Tools is the raw array and ToolChoice the raw object, nil without.
	Tools, ToolChoice json.RawMessage
	// Raw is the whole params object.
	Raw json.RawMessage
}

// SampleResult is what the model said.
type SampleResult struct {
	// Role is "assistant" when empty.
	Role string
	// Model is the name of the model. Required.
	Model string
	// StopReason is e.g. "endTurn", "maxTokens", "toolUse".
	StopReason string
	// Text is the answer; or else Content is it: a raw block or an array of
	// blocks.
	Text    string
	Content json.RawMessage
	// Raw, when set, is the whole result and wins.
	Raw json.RawMessage
}

func (c *Client) sample(ctx context.Context, p mcp.Profile, params []byte) (json.RawMessage, error) {
	h := &c.opts.Handlers
	r := SampleRequest{
		SystemPrompt:   text(params, "systemPrompt"),
		IncludeContext: text(params, "includeContext"),
		StopSequences:  texts(params, "stopSequences"),
		Tools:          member(params, "tools"),
		ToolChoice:     member(params, "toolChoice"),
		Raw:            params,
	}
	most, ok := number(params, "maxTokens")
	if !ok {
		return nil, invalid("maxTokens is missing")
	}
	r.MaxTokens = int(most)
	if t, ok := number(params, "temperature"); ok {
		r.Temperature = &t
	}
	if (r.Tools != nil || r.ToolChoice != nil) && !h.SampleTools {
		return nil, invalid("tools were not declared") // W29.3
	}
	r.Messages = messages(params)
	if err := toolTurns(r.Messages); err != nil {
		return nil, err
	}
	out, err := h.Sample(ctx, r)
	if err != nil {
		return nil, err
	}
	said, err := out.encode()
	if err != nil {
		return nil, err
	}
	// A server of before 2025-11-25 reads one block (W29.8, B14.6).
	fitting, _, err := cardinality.SamplingResult(said, p.SamplingTools)
	return fitting, err
}

func (r SampleResult) encode() (json.RawMessage, error) {
	if r.Raw != nil {
		return encodedObject("a sampling result", r.Raw)
	}
	content, err := checked(r.Content)
	if err != nil {
		return nil, err
	}
	if content == nil {
		var block object
		block.set("type", []byte(`"text"`))
		block.set("text", strictjson.Quote(nil, r.Text))
		content = block.bytes()
	}
	var o object
	if r.Role == "" {
		r.Role = "assistant"
	}
	o.set("role", strictjson.Quote(nil, r.Role))
	o.set("content", content)
	o.set("model", strictjson.Quote(nil, r.Model))
	o.text("stopReason", r.StopReason)
	return o.bytes(), nil
}

// toolTurns checks that every use of a tool is answered in the next message,
// and that answers stand alone (W29.6, W29.7).
func toolTurns(all []Message) error {
	waiting := map[string]bool{}
	for i, m := range all {
		uses, results, others := map[string]bool{}, 0, 0
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				uses[text(b.Raw, "id")] = true
			case "tool_result":
				results++
				id := text(b.Raw, "toolUseId")
				if !waiting[id] {
					return invalid("message %d: a tool_result for nothing that was asked", i)
				}
				delete(waiting, id)
			default:
				others++
			}
		}
		switch {
		case results > 0 && (others > 0 || len(uses) > 0):
			return invalid("message %d: tool results stand beside something else", i)
		case len(waiting) > 0:
			return invalid("message %d: a tool_use has no result", i)
		}
		waiting = uses
	}
	if len(waiting) > 0 {
		return invalid("the last message uses a tool, and nothing answers it")
	}
	return nil
}

// Root is a place that the server may work on (W31.3).
type Root struct {
	// URI is a file:// URI.
	URI  string
	Name string
}

func (c *Client) roots(ctx context.Context) (json.RawMessage, error) {
	list, err := c.opts.Handlers.Roots(ctx)
	if err != nil {
		return nil, err
	}
	array := []byte("[")
	for i, root := range list {
		if len(root.URI) < len("file://") || root.URI[:len("file://")] != "file://" {
			return nil, fmt.Errorf("client: root %q is no file:// URI", root.URI)
		}
		if i > 0 {
			array = append(array, ',')
		}
		var o object
		o.set("uri", strictjson.Quote(nil, root.URI))
		o.text("name", root.Name)
		array = append(array, o.bytes()...)
	}
	return append(append([]byte(`{"roots":`), array...), `]}`...), nil
}
