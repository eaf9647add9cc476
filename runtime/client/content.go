package client

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/cardinality"
)

// Content is one block of a tool result, a prompt or a message. Which fields
// are set depends on Type; what they leave out is in Raw.
type Content struct {
	// Type is "text", "image", "audio", "resource", "resource_link",
	// "tool_use", "tool_result", or one that is not known here.
	Type string
	Text string
	// Data is the base64 text of an image or audio.
	Data     string
	MIMEType string
	// URI and Name are a resource_link's.
	URI, Name string
	// Resource is what an embedded resource holds.
	Resource *ResourceContents
	Raw      json.RawMessage
}

// Bytes decodes Data.
func (c Content) Bytes() ([]byte, error) { return base64.StdEncoding.DecodeString(c.Data) }

func readContent(raw []byte) Content {
	c := Content{
		Type:     text(raw, "type"),
		Text:     text(raw, "text"),
		Data:     text(raw, "data"),
		MIMEType: text(raw, "mimeType"),
		URI:      text(raw, "uri"),
		Name:     text(raw, "name"),
		Raw:      raw,
	}
	if inner := cardinality.Items(member(raw, "resource")); len(inner) > 0 { // some send a list
		r := readContents(inner[0])
		c.Resource = &r
	}
	return c
}

// blocks reads content that is an array, or one block without one.
func blocks(raw []byte) (out []Content) {
	each(raw, func(one json.RawMessage) { out = append(out, readContent(one)) })
	return out
}

// Message is one turn of a prompt or of a conversation with a model.
type Message struct {
	Role    string
	Content []Content
	Raw     json.RawMessage
}

func messages(object []byte) (out []Message) {
	each(member(object, "messages"), func(one json.RawMessage) {
		out = append(out, Message{Role: text(one, "role"), Content: blocks(member(one, "content")), Raw: one})
	})
	return out
}

// ResourceContents is what a resource holds: Text, or Blob in base64.
type ResourceContents struct {
	URI, MIMEType string
	Text          string
	// Blob is base64; Bytes decodes either.
	Blob string
	Raw  json.RawMessage
}

// Bytes is the content, decoded.
func (r ResourceContents) Bytes() ([]byte, error) {
	if r.Blob == "" {
		return []byte(r.Text), nil
	}
	return base64.StdEncoding.DecodeString(r.Blob)
}

func readContents(raw []byte) ResourceContents {
	return ResourceContents{
		URI:      text(raw, "uri"),
		MIMEType: text(raw, "mimeType"),
		Text:     text(raw, "text"),
		Blob:     text(raw, "blob"),
		Raw:      raw,
	}
}

// joined is the text of all text blocks, one a line.
func joined(all []Content) string {
	var lines []string
	for _, c := range all {
		if c.Type == "text" {
			lines = append(lines, c.Text)
		}
	}
	return strings.Join(lines, "\n")
}
