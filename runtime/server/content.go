package server

import (
	"encoding/json"
)

// Content is one piece of content of a tool result, a prompt or a sampling
// message. Make it with Text, Image, Audio, Link, Embed, ToolUse and their
// like; Type says which members count.
type Content struct {
	Type string `json:"type"`
	// Text of type text.
	Text *string `json:"text,omitempty"`
	// Data (base64 on the wire) of types image and audio.
	Data     []byte `json:"data,omitzero"`
	MIMEType string `json:"mimeType,omitempty"`
	// Resource of type resource.
	Resource *Contents `json:"resource,omitempty"`
	// URI, Name, Title, Description, Size and Icons of type resource_link.
	URI         string `json:"uri,omitempty"`
	Name        string `json:"name,omitempty"` // also of tool_use
	Title       string `json:"title,omitempty"`
	Description string `json:"description,omitempty"`
	Size        *int64 `json:"size,omitempty"`
	Icons       []Icon `json:"icons,omitempty"`
	// ID and Input of type tool_use.
	ID    string          `json:"id,omitempty"`
	Input json.RawMessage `json:"input,omitempty"`
	// ToolUseID, Content, StructuredContent and IsError of type tool_result.
	ToolUseID         string          `json:"toolUseId,omitempty"`
	Content           []Content       `json:"content,omitzero"`
	StructuredContent json.RawMessage `json:"structuredContent,omitempty"`
	IsError           bool            `json:"isError,omitempty"`

	Annotations *Annotations    `json:"annotations,omitempty"`
	Meta        json.RawMessage `json:"_meta,omitempty"`
}

// Annotations say whom content is for and how much it matters (W26.12).
type Annotations struct {
	Audience     []string `json:"audience,omitempty"`
	Priority     *float64 `json:"priority,omitempty"`
	LastModified string   `json:"lastModified,omitempty"`
}

// Contents is what a resource holds: Text, or Blob where that is not nil.
type Contents struct {
	URI      string          `json:"uri"`
	MIMEType string          `json:"mimeType,omitempty"`
	Text     *string         `json:"text,omitempty"`
	Blob     []byte          `json:"blob,omitzero"`
	Meta     json.RawMessage `json:"_meta,omitempty"`
}

// Text is text.
func Text(text string) Content { return Content{Type: "text", Text: &text} }

// Image is a picture of a MIME type.
func Image(data []byte, mimeType string) Content {
	return Content{Type: "image", Data: present(data), MIMEType: mimeType}
}

// Audio is sound of a MIME type; 2024-11-05 does not have it (W24.10).
func Audio(data []byte, mimeType string) Content {
	return Content{Type: "audio", Data: present(data), MIMEType: mimeType}
}

// present makes no bytes an empty value: the member is required.
func present(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// Embed carries a resource's contents inside a result.
func Embed(c Contents) Content { return Content{Type: "resource", Resource: &c} }

// Link names a resource that the client may read; revisions before 2025-06-18
// get it as text (W24.10).
func Link(uri, name string) Content { return Content{Type: "resource_link", URI: uri, Name: name} }

// TextContents is the text of a resource.
func TextContents(uri, mimeType, text string) Contents {
	return Contents{URI: uri, MIMEType: mimeType, Text: &text}
}

// BlobContents are the bytes of a resource.
func BlobContents(uri, mimeType string, blob []byte) Contents {
	return Contents{URI: uri, MIMEType: mimeType, Blob: present(blob)}
}

// String is the text of text content, "" of any other.
func (c Content) String() string {
	if c.Text == nil {
		return ""
	}
	return *c.Text
}
