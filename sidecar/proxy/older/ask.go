package older

import (
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Verdict says what becomes of a question.
type Verdict uint8

// The verdicts.
const (
	// Asks: it can be asked.
	Asks Verdict = iota
	// Cancels: the revision cannot express it; it counts as cancelled without
	// anybody being asked (bridge section 17).
	Cancels
	// Undeclared: the client did not say that it can be asked this (B8.6).
	Undeclared
)

// Ask makes the params of a reverse request for a client of revision p with
// these capabilities. id is what an elicitation by URL is called, raw JSON.
func Ask(p mcp.Profile, capabilities []byte, method string, params, id []byte) ([]byte, Verdict) {
	switch method {
	case mcp.MethodElicit:
		return elicit(p, capabilities, params, id)
	case mcp.MethodCreateMessage:
		return sample(p, capabilities, params)
	case mcp.MethodRootsList:
		return params, Asks
	}
	return nil, Undeclared
}

// elicit converts an elicitation (B14.4, B14.5, B8.2).
func elicit(p mcp.Profile, capabilities, params, id []byte) ([]byte, Verdict) {
	mode := text(params, "mode")
	if p.ElicitationModes {
		switch {
		case !mcp.ElicitationMode(capabilities, mode):
			return nil, Undeclared
		case mode == "url" && p.ElicitationIDs:
			return spliced(params, strictjson.Set(id, "elicitationId")), Asks
		}
		return params, Asks
	}
	if mode != "" && mode != "form" {
		return nil, Undeclared
	}
	edits := []strictjson.Edit{strictjson.Delete("mode")}
	properties, _ := strictjson.GetPath(params, "requestedSchema", "properties")
	verdict := Asks
	var fields []strictjson.Edit
	strictjson.Each(properties, func(name, field []byte) bool {
		if text(field, "type") == "array" { // several choices
			verdict = Cancels
			return false
		}
		if next := plainField(field); !same(next, field) {
			fields = append(fields, strictjson.Set(next, string(name)))
		}
		return true
	})
	if verdict != Asks {
		return nil, verdict
	}
	if len(fields) > 0 {
		edits = append(edits, strictjson.Set(spliced(properties, fields...), "requestedSchema", "properties"))
	}
	return spliced(params, edits...), Asks
}

// plainField is a form field as 2025-06-18 has it: choices by enum and
// enumNames, strings without a default.
func plainField(field []byte) []byte {
	var edits []strictjson.Edit
	if text(field, "type") == "string" && has(field, "default") {
		edits = append(edits, strictjson.Delete("default"))
	}
	choices, ok := strictjson.Get(field, "oneOf")
	if ok && strictjson.IsArray(choices) {
		values, names := []byte{'['}, []byte{'['}
		strictjson.Elements(choices, func(one []byte) bool {
			value, chosen := strictjson.Get(one, "const")
			if !chosen {
				return true // nothing that could be chosen
			}
			name, named := strictjson.Get(one, "title")
			if !named {
				name = value
			}
			if len(values) > 1 {
				values, names = append(values, ','), append(names, ',')
			}
			values, names = append(values, value...), append(names, name...)
			return true
		})
		edits = append(edits, strictjson.Delete("oneOf"),
			strictjson.Set(append(values, ']'), "enum"), strictjson.Set(append(names, ']'), "enumNames"))
	}
	return spliced(field, edits...)
}

// sample converts a request for a message (B14.6).
func sample(p mcp.Profile, capabilities, params []byte) ([]byte, Verdict) {
	tools := has(params, "tools") || has(params, "toolChoice")
	var edits []strictjson.Edit
	if p.SamplingTools {
		if tools && !mcp.Capability("sampling.tools").Declared(capabilities) {
			return nil, Undeclared
		}
		if context := text(params, "includeContext"); context != "" && context != "none" && !mcp.Capability("sampling.context").Declared(capabilities) {
			edits = append(edits, strictjson.Delete("includeContext"))
		}
		return spliced(params, edits...), Asks
	}
	messages, _ := strictjson.Get(params, "messages")
	plain, ok := plainMessages(p, messages)
	if tools || !ok {
		return nil, Undeclared
	}
	if !same(plain, messages) {
		edits = append(edits, strictjson.Set(plain, "messages"))
	}
	return spliced(params, edits...), Asks
}

// plainMessages gives each message one block: several become messages of the
// same role, one after the other. ok is false where tools are spoken of.
func plainMessages(p mcp.Profile, messages []byte) (out []byte, ok bool) {
	ok = true
	out = mapped(messages, func(message []byte) []byte {
		content, _ := strictjson.Get(message, "content")
		if !strictjson.IsArray(content) {
			next, fine := plainBlock(p, content)
			ok = ok && fine
			if same(next, content) {
				return message
			}
			return spliced(message, strictjson.Set(next, "content"))
		}
		var several []byte
		strictjson.Elements(content, func(one []byte) bool {
			next, fine := plainBlock(p, one)
			ok = ok && fine
			if len(several) > 0 {
				several = append(several, ',')
			}
			several = append(several, spliced(message, strictjson.Set(next, "content"))...)
			return true
		})
		return several // an empty message is none
	})
	return out, ok
}

func plainBlock(p mcp.Profile, content []byte) (out []byte, ok bool) {
	switch text(content, "type") {
	case "tool_use", "tool_result":
		return nil, false
	}
	if content == nil {
		return nil, true
	}
	return block(p, content), true
}
