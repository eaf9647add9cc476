package workload

import (
	"encoding/json"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

// schema2020 is the schema that the suite wants to see unchanged in lists.
const schema2020 = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
    }
  },
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
}`

// annotated has a parameter that HTTP clients repeat in a header (W15.13).
const annotated = `{
  "type": "object",
  "properties": {
    "region": {"type": "string", "x-mcp-header": "Region", "description": "Where to run"},
    "query": {"type": "string", "description": "What to run"}
  },
  "required": ["region"]
}`

// contentTools answer at once, with content of every kind.
func contentTools() []tool {
	text := server.Text("This is a simple text response for testing.")
	resource := server.Embed(server.TextContents("test://embedded-resource", "text/plain", "This is an embedded resource content."))
	mixed := server.Embed(server.TextContents("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`))
	return []tool{
		fixed("test_simple_text", "Answers with a line of text", text),
		fixed("test_image_content", "Answers with a picture", server.Image(picture(), "image/png")),
		fixed("test_audio_content", "Answers with a sound", server.Audio(sound(), "audio/wav")),
		fixed("test_embedded_resource", "Answers with a resource", resource),
		fixed("test_multiple_content_types", "Answers with text, a picture and a resource",
			server.Text("Multiple content types test:"), server.Image(picture(), "image/png"), mixed),
		{
			Tool: server.Tool{Name: "test_error_handling", Description: "Fails, always"},
			run: func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
				return nil, errors.New("This tool intentionally returns an error for testing")
			},
		},
		{
			Tool: server.Tool{
				Name: "json_schema_2020_12_tool", Description: "Has a schema with keywords of JSON Schema 2020-12",
				InputSchema: json.RawMessage(schema2020),
			},
			run: say("The arguments fit the schema."),
		},
		{
			Tool: server.Tool{
				Name: "test_header_parameter", Description: "Has a parameter that travels in a header too",
				InputSchema: json.RawMessage(annotated),
			},
			run: say("The header and the argument agree."),
		},
	}
}

// tool is a tool and what it does.
type tool struct {
	server.Tool
	run server.ToolHandler
}

// fixed is a tool that always answers the same.
func fixed(name, description string, content ...server.Content) tool {
	return tool{
		Tool: server.Tool{Name: name, Description: description, Annotations: &server.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true}},
		run: func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
			return &server.ToolResult{Content: content}, nil
		},
	}
}

func say(text string) server.ToolHandler {
	return func(*server.Context, json.RawMessage) (server.ToolOutcome, error) {
		return server.TextResult(text), nil
	}
}
