package server

import (
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// SampleParams asks the client's model. MaxTokens is required (W29.5).
type SampleParams struct {
	Messages         []SampleMessage   `json:"messages"`
	ModelPreferences *ModelPreferences `json:"modelPreferences,omitempty"`
	SystemPrompt     string            `json:"systemPrompt,omitempty"`
	// IncludeContext is left out for clients that did not declare
	// sampling.context (W29.4).
	IncludeContext string          `json:"includeContext,omitempty"`
	Temperature    *float64        `json:"temperature,omitempty"`
	MaxTokens      int             `json:"maxTokens"`
	StopSequences  []string        `json:"stopSequences,omitempty"`
	Metadata       json.RawMessage `json:"metadata,omitempty"`
	// Tools and ToolChoice need sampling.tools (W29.3).
	Tools      []SampleTool `json:"tools,omitempty"`
	ToolChoice *ToolChoice  `json:"toolChoice,omitempty"`
}

// SampleTool is a tool that the model may use.
type SampleTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"inputSchema"`
}

// ToolChoice is auto, required or none.
type ToolChoice struct {
	Mode string `json:"mode,omitempty"`
}

// ModelPreferences are hints; priorities are 0 to 1.
type ModelPreferences struct {
	Hints                []ModelHint `json:"hints,omitempty"`
	CostPriority         *float64    `json:"costPriority,omitempty"`
	SpeedPriority        *float64    `json:"speedPriority,omitempty"`
	IntelligencePriority *float64    `json:"intelligencePriority,omitempty"`
}

// ModelHint is part of a model's name.
type ModelHint struct {
	Name string `json:"name,omitempty"`
}

// SampleMessage is a message of the conversation.
type SampleMessage struct {
	Role    string  `json:"role"`
	Content Several `json:"content"`
}

// Several is content that is one piece or more. One piece is written alone,
// which every revision understands (W29.8); both forms are read.
type Several []Content

// Say is a message of text.
func Say(role, text string) SampleMessage {
	return SampleMessage{Role: role, Content: Several{Text(text)}}
}

// MarshalJSON implements json.Marshaler.
func (s Several) MarshalJSON() ([]byte, error) {
	if len(s) == 1 {
		return encode(s[0])
	}
	return encode([]Content(s))
}

// UnmarshalJSON implements json.Unmarshaler.
func (s *Several) UnmarshalJSON(raw []byte) error {
	if strictjson.IsArray(raw) {
		return decode(raw, (*[]Content)(s))
	}
	*s = make(Several, 1)
	return decode(raw, &(*s)[0])
}

// SampleResult is what the model said.
type SampleResult struct {
	Role       string  `json:"role"`
	Content    Several `json:"content"`
	Model      string  `json:"model"`
	StopReason string  `json:"stopReason,omitempty"`
}

// Text is the text of the answer's pieces, one after the other.
func (r SampleResult) Text() string {
	var out string
	for _, c := range r.Content {
		out += c.String()
	}
	return out
}

// Sample asks the client's model. Errors are as with Elicit; a user's refusal
// is a *ClientError whose Rejected is true.
func (c *Context) Sample(key string, p SampleParams) (SampleResult, error) {
	raw, err := c.input(c.Sampling(key, p))
	if err != nil {
		return SampleResult{}, err
	}
	var r SampleResult
	return r, decode(raw, &r)
}

// Sampling is a question to the client's model for Need or InputRequired.
func (c *Context) Sampling(key string, p SampleParams) Input {
	in := Input{Key: key, Method: mcp.MethodCreateMessage, needs: []mcp.Capability{mcp.CapSampling}}
	if p.IncludeContext != "" && p.IncludeContext != "none" && c.x.Profile().SamplingTools && !c.Supports(capSamplingContext) {
		p.IncludeContext = ""
	}
	if p.Tools != nil || p.ToolChoice != nil {
		in.needs = append(in.needs, capSamplingTools)
	}
	switch {
	case p.MaxTokens <= 0:
		in.err = errors.New("sampling: maxTokens is required")
	case len(p.Messages) == 0:
		in.err = errors.New("sampling: no messages")
	default:
		in.err = checkToolUse(p.Messages)
	}
	if !c.x.Profile().SamplingTools {
		p.Messages = oneBlockEach(p.Messages)
	}
	in.Params = p
	in.check = func(answer json.RawMessage) error {
		var r SampleResult
		if !isObject(answer) || decode(answer, &r) != nil || len(r.Content) == 0 || r.Content[0].Type == "" || r.Model == "" {
			return errors.New("it is no answer of a model")
		}
		if r.Role != RoleUser && r.Role != RoleAssistant {
			return errors.New("the role must be user or assistant")
		}
		return nil
	}
	return in
}

// oneBlockEach makes consecutive messages of those with several pieces, for
// revisions whose messages have one (W29.8, B14.6).
func oneBlockEach(messages []SampleMessage) []SampleMessage {
	out := make([]SampleMessage, 0, len(messages))
	for _, m := range messages {
		if len(m.Content) < 2 {
			out = append(out, m)
			continue
		}
		for _, piece := range m.Content {
			out = append(out, SampleMessage{Role: m.Role, Content: Several{piece}})
		}
	}
	return out
}

const (
	capSamplingTools   mcp.Capability = mcp.CapSampling + ".tools"
	capSamplingContext mcp.Capability = mcp.CapSampling + ".context"
)

var errToolUse = errors.New("sampling: every tool_use is answered by a tool_result in the next user message, which holds nothing else")

// checkToolUse holds a conversation against W29.6.
func checkToolUse(messages []SampleMessage) error {
	var open map[string]bool
	for _, m := range messages {
		results, others := 0, 0
		for _, c := range m.Content {
			if c.Type != "tool_result" {
				others++
				continue
			}
			results++
			if m.Role != RoleUser || !open[c.ToolUseID] {
				return errToolUse
			}
			delete(open, c.ToolUseID)
		}
		if len(open) > 0 || results > 0 && others > 0 {
			return errToolUse
		}
		open = map[string]bool{}
		for _, c := range m.Content {
			if c.Type == "tool_use" {
				open[c.ID] = true
			}
		}
	}
	if len(open) > 0 {
		return errToolUse
	}
	return nil
}

// ToolUse is a model's call of a tool.
func ToolUse(id, name string, input json.RawMessage) Content {
	return Content{Type: "tool_use", ID: id, Name: name, Input: input}
}

// ToolUseResult answers a ToolUse.
func ToolUseResult(id string, content ...Content) Content {
	if content == nil {
		content = []Content{}
	}
	return Content{Type: "tool_result", ToolUseID: id, Content: content}
}

// Root is a folder or file that the client lets servers work in (W31.3).
type Root struct {
	URI  string          `json:"uri"`
	Name string          `json:"name,omitempty"`
	Meta json.RawMessage `json:"_meta,omitempty"`
}

type rootsResult struct {
	Roots []Root `json:"roots"`
}

// Roots asks the client for its roots. Errors are as with Elicit.
func (c *Context) Roots(key string) ([]Root, error) {
	raw, err := c.input(c.RootsInput(key))
	if err != nil {
		return nil, err
	}
	var r rootsResult
	return r.Roots, decode(raw, &r)
}

// RootsInput is a question for roots for Need or InputRequired. It has params,
// though empty ones: go-sdk's client (1.8.0) fails the whole request without.
func (c *Context) RootsInput(key string) Input {
	return Input{Key: key, Method: mcp.MethodRootsList, Params: struct{}{}, needs: []mcp.Capability{mcp.CapRoots}, check: func(answer json.RawMessage) error {
		roots, ok := strictjson.Get(answer, "roots")
		var r rootsResult
		if !ok || !strictjson.IsArray(roots) || decode(answer, &r) != nil {
			return errors.New("it is no list of roots")
		}
		return nil
	}}
}
