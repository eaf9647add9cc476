package workload

import (
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

// prompt is a prompt and what it makes.
type prompt struct {
	server.Prompt
	run server.PromptHandler
}

func messages(content ...server.Content) server.PromptHandler {
	return func(*server.Context, map[string]string) (server.PromptOutcome, error) { return said(content...), nil }
}

func said(content ...server.Content) *server.PromptResult {
	r := &server.PromptResult{}
	for _, c := range content {
		r.Messages = append(r.Messages, server.PromptMessage{Role: server.RoleUser, Content: c})
	}
	return r
}

func (w *Workload) addPrompts() error {
	var errs []error
	for _, p := range []prompt{
		{
			server.Prompt{Name: "test_simple_prompt", Description: "A prompt without arguments"},
			messages(server.Text("This is a simple prompt for testing.")),
		},
		{
			server.Prompt{Name: "test_prompt_with_arguments", Description: "A prompt with two arguments", Arguments: []server.PromptArgument{
				{Name: "arg1", Description: "First test argument", Required: true},
				{Name: "arg2", Description: "Second test argument", Required: true},
			}},
			func(_ *server.Context, args map[string]string) (server.PromptOutcome, error) {
				return said(server.Text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", args["arg1"], args["arg2"]))), nil
			},
		},
		{
			server.Prompt{Name: "test_prompt_with_embedded_resource", Description: "A prompt with a resource", Arguments: []server.PromptArgument{
				{Name: "resourceUri", Description: "URI of the resource to embed", Required: true},
			}},
			func(_ *server.Context, args map[string]string) (server.PromptOutcome, error) {
				resource := server.TextContents(args["resourceUri"], "text/plain", "Embedded resource content for testing.")
				return said(server.Embed(resource), server.Text("Please process the embedded resource above.")), nil
			},
		},
		{
			server.Prompt{Name: "test_prompt_with_image", Description: "A prompt with a picture"},
			messages(server.Image(picture(), "image/png"), server.Text("Please analyze the image above.")),
		},
		{
			server.Prompt{Name: "test_input_required_result_prompt", Description: "A prompt that asks the user first"},
			askForContext,
		},
	} {
		errs = append(errs, w.Server.AddPrompt(p.Prompt, p.run))
	}
	complete := func(_ *server.Context, r server.CompleteRequest) (server.Completion, error) {
		return server.Completion{Values: beginning(r.Value, "paris", "park", "party", "testValue1", "testValue2")}, nil
	}
	errs = append(errs,
		w.Server.AddCompletion(server.PromptRef("test_prompt_with_arguments"), "arg1", complete),
		w.Server.AddCompletion(server.PromptRef("test_prompt_with_arguments"), "arg2", complete))
	return errors.Join(errs...)
}

func askForContext(c *server.Context, _ map[string]string) (server.PromptOutcome, error) {
	r, err := c.Elicit("user_context", form("What context should the prompt use?", askContext))
	if err != nil {
		return nil, err
	}
	var answer struct{ Context string }
	if r.Accepted() {
		if err := r.Into(&answer); err != nil {
			return nil, err
		}
	}
	return said(server.Text("Use this context: " + answer.Context)), nil
}
