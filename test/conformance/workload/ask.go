package workload

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// Forms of the suite, by what they ask for.
const (
	askName    = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	askColor   = `{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}`
	askOK      = `{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`
	askContext = `{"type":"object","properties":{"context":{"type":"string"}},"required":["context"]}`
	askUser    = `{"type":"object","properties":{
		"username":{"type":"string","description":"User's response"},
		"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}`
	askDefaults = `{"type":"object","properties":{
		"name":{"type":"string","description":"User name","default":"John Doe"},
		"age":{"type":"integer","description":"User age","default":30},
		"score":{"type":"number","description":"User score","default":95.5},
		"status":{"type":"string","description":"User status","enum":["active","inactive","pending"],"default":"active"},
		"verified":{"type":"boolean","description":"Verification status","default":true}},"required":[]}`
	askEnums = `{"type":"object","properties":{
		"untitledSingle":{"type":"string","description":"One of three","enum":["option1","option2","option3"]},
		"titledSingle":{"type":"string","description":"One of three with titles","oneOf":[
			{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},
		"legacyEnum":{"type":"string","description":"One of three with names","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},
		"untitledMulti":{"type":"array","description":"Some of three","items":{"type":"string","enum":["option1","option2","option3"]}},
		"titledMulti":{"type":"array","description":"Some of three with titles","items":{"anyOf":[
			{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}},"required":[]}`
)

func form(message, schema string) server.ElicitParams {
	return server.ElicitParams{Message: message, Schema: json.RawMessage(schema)}
}

type promptArgs struct {
	Prompt string `json:"prompt" jsonschema:"the prompt for the model"`
}

type messageArgs struct {
	Message string `json:"message" jsonschema:"what to show the user"`
}

// addAsking adds the tools that ask the client for something: by requests of
// their own in one era, by rounds in the other; they do not know which.
func (w *Workload) addAsking() error {
	s := w.Server
	return errors.Join(
		server.AddTool(s, server.Tool{Name: "test_sampling", Description: "Asks the client's model"},
			func(c *server.Context, in promptArgs) (string, error) {
				answer, err := c.Sample("sampling", server.SampleParams{Messages: []server.SampleMessage{server.Say(server.RoleUser, in.Prompt)}, MaxTokens: 100})
				return "LLM response: " + answer.Text(), err
			}),
		server.AddTool(s, server.Tool{Name: "test_elicitation", Description: "Asks the user"},
			func(c *server.Context, in messageArgs) (string, error) {
				return userSaid(c, "user", form(in.Message, askUser))
			}),
		s.AddTool(server.Tool{Name: "test_missing_capability", Description: "Needs a client with a model", Meta: json.RawMessage(`{"` + mcp.MetaNeeds + `":["sampling"]}`)}, sampleOnce),
		s.AddTool(server.Tool{Name: "test_streaming_elicitation", Description: "Reports progress and asks the user"}, elicitStreaming),
		s.AddTool(server.Tool{Name: "test_elicitation_sep1034_defaults", Description: "Asks with a form that has defaults"},
			elicit("defaults", form("Please review and update the form fields with defaults", askDefaults))),
		s.AddTool(server.Tool{Name: "test_elicitation_sep1330_enums", Description: "Asks with a form of choices"},
			elicit("enums", form("Please select options from the enum fields", askEnums))),
		s.AddTool(server.Tool{Name: "test_input_required_result_elicitation", Description: "Greets the user by name"}, greetUser),
		s.AddTool(server.Tool{Name: "test_input_required_result_sampling", Description: "Asks the client's model for a capital"}, askCapital),
		s.AddTool(server.Tool{Name: "test_input_required_result_list_roots", Description: "Tells the client's roots"}, tellRoots),
		s.AddTool(server.Tool{Name: "test_input_required_result_request_state", Description: "Keeps a state while it asks"}, keepState),
		s.AddTool(server.Tool{Name: "test_input_required_result_tampered_state", Description: "Keeps a state while it asks"}, keepState),
		s.AddTool(server.Tool{Name: "test_input_required_result_multiple_inputs", Description: "Asks for three things at once"}, askAll),
		s.AddTool(server.Tool{Name: "test_input_required_result_capabilities", Description: "Asks for what the client can give"}, askWhatMay),
		s.AddTool(server.Tool{Name: "test_input_required_result_multi_round", Description: "Asks twice"}, askTwice),
	)
}

func elicit(key string, p server.ElicitParams) server.ToolHandler {
	return func(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
		text, err := userSaid(c, key, p)
		return server.TextResult(text), err
	}
}

func userSaid(c *server.Context, key string, p server.ElicitParams) (string, error) {
	r, err := c.Elicit(key, p)
	return fmt.Sprintf("User response: action=%s, content=%s", r.Action, r.Content), err
}

func question(text string, tokens int) server.SampleParams {
	return server.SampleParams{Messages: []server.SampleMessage{server.Say(server.RoleUser, text)}, MaxTokens: tokens}
}

func sampleOnce(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	answer, err := c.Sample("sampling", question("Say something.", 100))
	return server.TextResult(answer.Text()), err
}

func elicitStreaming(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	if err := c.Progress(1, 2, "About to ask"); err != nil {
		return nil, err
	}
	text, err := userSaid(c, "streaming", form("Please confirm", askOK))
	return server.TextResult(text), err
}
