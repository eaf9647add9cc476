package workload

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

// name is what a user calls themselves in a form.
type name struct {
	Name string `json:"name"`
}

// text is the result of a tool with one answer of the user in it.
func text(format string, args ...any) (server.ToolOutcome, error) {
	return server.TextResult(fmt.Sprintf(format, args...)), nil
}

func greetUser(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	r, err := c.Elicit("user_name", form("What is your name?", askName))
	if err != nil {
		return nil, err
	}
	if !r.Accepted() {
		return text("Hello, whoever you are!")
	}
	var who name
	if err := r.Into(&who); err != nil {
		return nil, err
	}
	return text("Hello, %s!", who.Name)
}

func askCapital(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	answer, err := c.Sample("capital_question", question("What is the capital of France?", 100))
	if err != nil {
		return nil, err
	}
	return text("%s", answer.Text())
}

func tellRoots(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	roots, err := c.Roots("client_roots")
	if err != nil {
		return nil, err
	}
	var uris []string
	for _, r := range roots {
		uris = append(uris, r.URI)
	}
	return text("The client has %d roots: %s", len(roots), strings.Join(uris, ", "))
}

// keepState says state-ok when what it kept came back as it was.
func keepState(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	const kept = "of the first round"
	if c.Profile().ReverseCalls {
		// One run is all there is: what is kept need not travel.
		if _, err := c.Elicit("confirm", form("Please confirm", askOK)); err != nil {
			return nil, err
		}
		return text("state-ok")
	}
	var state string
	if found, err := c.State(&state); err != nil {
		return nil, err
	} else if !found {
		if err := c.SetState(kept); err != nil {
			return nil, err
		}
	}
	if _, err := c.Elicit("confirm", form("Please confirm", askOK)); err != nil {
		return nil, err
	}
	if state != kept {
		return nil, errors.New("the answer came without the state")
	}
	return text("state-ok")
}

// inputs are the three things that askAll and askWhatMay want.
func inputs(c *server.Context) []server.Input {
	return []server.Input{
		c.Form("user_name", form("What is your name?", askName)),
		c.Sampling("greeting", question("Generate a greeting", 50)),
		c.RootsInput("client_roots"),
	}
}

func askAll(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	return answered(c, inputs(c))
}

func askWhatMay(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	return answered(c, slices.DeleteFunc(inputs(c), func(in server.Input) bool { return !c.MayAsk(in) }))
}

func answered(c *server.Context, wanted []server.Input) (server.ToolOutcome, error) {
	if err := c.Need(wanted...); err != nil {
		return nil, err
	}
	var keys []string
	for _, in := range wanted {
		keys = append(keys, in.Key)
	}
	return text("Answered: %s", strings.Join(keys, ", "))
}

func askTwice(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	first, err := c.Elicit("step1", form("Step 1: What is your name?", askName))
	if err != nil {
		return nil, err
	}
	second, err := c.Elicit("step2", form("Step 2: What is your favorite color?", askColor))
	if err != nil {
		return nil, err
	}
	return text("Both steps answered: %s, %s", first.Content, second.Content)
}
