package server

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// ToolOutcome is the closed set of what a tool answers with besides an error:
// *ToolResult and *InputRequired; the engine adds the task that it makes.
type ToolOutcome interface{ toolOutcome() }

// ToolResult is the result of a tool. For a handler that has one it need not
// be complete: content that is missing is [] (R8), and structured content is
// repeated as text where a client needs it.
type ToolResult struct {
	Content []Content `json:"content"`
	// Structured is any value that encodes to JSON, or raw JSON; revisions
	// without it do not get it (W24.10).
	Structured any  `json:"structuredContent,omitempty"`
	IsError    bool `json:"isError,omitempty"`
	// Meta is a raw object.
	Meta json.RawMessage `json:"_meta,omitempty"`
}

func (*ToolResult) toolOutcome() {}

// TextResult is a result of text alone.
func TextResult(text string) *ToolResult { return &ToolResult{Content: []Content{Text(text)}} }

// ErrorResult is a result that tells a model what went wrong.
func ErrorResult(text string) *ToolResult {
	return &ToolResult{Content: []Content{Text(text)}, IsError: true}
}

// ToolError is an error that becomes a tool result with isError and this
// content; any other error does so with its text.
type ToolError struct {
	Content    []Content
	Structured any
}

// Error implements error.
func (e *ToolError) Error() string {
	var parts []string
	for _, c := range e.Content {
		if c.Text != nil {
			parts = append(parts, *c.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// onWire is a tool result as a revision has it (W24.8, W24.10, R8).
type onWire struct {
	Content    []Content       `json:"content"`
	Structured json.RawMessage `json:"structuredContent,omitempty"`
	IsError    bool            `json:"isError,omitempty"`
	Meta       json.RawMessage `json:"_meta,omitempty"`
}

// encodeResult makes the JSON of a result; structured is the encoded
// structured content, nil without any.
func encodeResult(p mcp.Profile, r *ToolResult, structured json.RawMessage) ([]byte, error) {
	w := onWire{Content: r.Content, IsError: r.IsError, Meta: r.Meta}
	if structured != nil {
		if !hasText(r.Content) && (len(r.Content) == 0 || !p.StructuredOutput) {
			w.Content = append([]Content{Text(string(structured))}, r.Content...)
		}
		if p.StructuredOutput && (p.AnyOutput || isObject(structured)) {
			w.Structured = structured
		}
	}
	if raw, ok := plainText(w); ok {
		return raw, nil
	}
	w.Content = fit(p, w.Content)
	return encode(w)
}

// plainText encodes what most tools answer with, text and perhaps structured
// content, without reflection.
func plainText(w onWire) (raw []byte, ok bool) {
	if w.Meta != nil {
		return nil, false
	}
	size := len(w.Structured) + 64
	for i := range w.Content {
		c := &w.Content[i]
		if c.Type != "text" || c.Text == nil || c.Annotations != nil || c.Meta != nil || !utf8.ValidString(*c.Text) {
			return nil, false
		}
		size += len(*c.Text) + 32
	}
	b := append(make([]byte, 0, size), `{"content":[`...)
	for i := range w.Content {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"type":"text","text":`...)
		b = append(strictjson.Quote(b, *w.Content[i].Text), '}')
	}
	b = append(b, ']')
	if w.Structured != nil {
		b = append(append(b, `,"structuredContent":`...), w.Structured...)
	}
	if w.IsError {
		b = append(b, `,"isError":true`...)
	}
	return append(b, '}'), true
}

func hasText(content []Content) bool {
	for _, c := range content {
		if c.Type == "text" {
			return true
		}
	}
	return false
}

func isObject(raw []byte) bool { return len(raw) > 0 && raw[0] == '{' }

// fit replaces content that a revision does not have by text that says what it
// was (W24.10).
func fit(p mcp.Profile, content []Content) []Content {
	if p.Icons {
		return content // nothing is missing any more
	}
	out := make([]Content, len(content))
	for i, c := range content {
		out[i] = fitOne(p, c)
	}
	return out
}

func fitOne(p mcp.Profile, c Content) Content {
	switch {
	case c.Type == "audio" && !p.AudioContent:
		c = Text("[audio, " + c.MIMEType + "]")
	case c.Type == "resource_link" && !p.ResourceLinks:
		label := c.Name
		if c.Description != "" {
			label += ": " + c.Description
		}
		c = Text(label + " <" + c.URI + ">")
	}
	if !p.Titles {
		c.Meta = nil
		if c.Resource != nil && c.Resource.Meta != nil {
			bare := *c.Resource
			bare.Meta = nil
			c.Resource = &bare
		}
		if c.Annotations != nil && c.Annotations.LastModified != "" {
			bare := *c.Annotations
			bare.LastModified = ""
			c.Annotations = &bare
		}
	}
	c.Icons = nil
	return c
}
