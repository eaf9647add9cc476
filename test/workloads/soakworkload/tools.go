package main

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/server"
)

const (
	// pollEvery is what clients of tasks are told to wait.
	pollEvery = 200 * time.Millisecond
	// taskLife is how long tasks are kept.
	taskLife = 20 * time.Second
	// template is the resources that can be read and subscribed to: one per
	// token.
	template = "soak://token/{token}"
)

// workload is the server's tools.
type workload struct {
	server  *server.Server
	journal *journal
}

type arguments struct {
	Token string `json:"token" jsonschema:"is in everything that the call makes"`
	MS    int    `json:"ms,omitempty" jsonschema:"how long to take, in milliseconds"`
	URI   string `json:"uri,omitempty" jsonschema:"resource to touch"`
}

type answer struct {
	Token string `json:"token"`
}

const form = `{"type":"object","properties":{"token":{"type":"string"}},"required":["token"]}`

func (w *workload) fill() error {
	s := w.server
	return errors.Join(
		server.AddTool(s, server.Tool{Name: "echo", Description: "Says its token"}, w.echo),
		server.AddTool(s, server.Tool{Name: "work", Description: "Reports progress and logs"}, w.work),
		server.AddTool(s, server.Tool{Name: "elicit", Description: "Asks the user for a token"}, w.elicit),
		server.AddTool(s, server.Tool{Name: "sample", Description: "Asks the model for a token"}, w.sample),
		server.AddTool(s, server.Tool{Name: "touch", Description: "Changes a resource"}, w.touch),
		server.AddTool(s, server.Tool{Name: "job", Description: "May run as a task", TaskSupport: server.TaskOptional}, w.work),
		s.AddTemplate(server.Template{URITemplate: template, Name: "Token", Description: "Says the token of its URI"},
			func(_ *server.Context, r server.ReadRequest) (server.ResourceOutcome, error) {
				return server.TextResource("text/plain", r.Vars["token"]), nil
			}),
	)
}

func (w *workload) echo(_ *server.Context, in arguments) (string, error) {
	return in.Token, w.journal.executed("echo", in.Token)
}

// work takes its time in four steps.
func (w *workload) work(c *server.Context, in arguments) (string, error) {
	if err := w.journal.executed("work", in.Token); err != nil {
		return "", err
	}
	const steps = 4
	for i := range steps {
		if err := c.Progress(float64(i+1), steps, in.Token); err != nil {
			return "", err
		}
		if err := c.Log(server.LevelInfo, "soak", map[string]string{"token": in.Token}); err != nil {
			return "", err
		}
		select {
		case <-time.After(time.Duration(in.MS) * time.Millisecond / steps):
		case <-c.Done():
			return "", c.Err()
		}
	}
	return in.Token, nil
}

// elicit works once it has its answer: without reverse calls a handler runs
// again from the top.
func (w *workload) elicit(c *server.Context, in arguments) (string, error) {
	r, err := c.Elicit("user", server.ElicitParams{Message: in.Token, Schema: json.RawMessage(form)})
	if err != nil {
		return "", err
	}
	var said answer
	if r.Accepted() {
		if err := r.Into(&said); err != nil {
			return "", err
		}
	}
	return said.Token, w.journal.executed("elicit", in.Token)
}

func (w *workload) sample(c *server.Context, in arguments) (string, error) {
	r, err := c.Sample("model", server.SampleParams{Messages: []server.SampleMessage{server.Say(server.RoleUser, in.Token)}, MaxTokens: 10})
	if err != nil {
		return "", err
	}
	return r.Text(), w.journal.executed("sample", in.Token)
}

func (w *workload) touch(_ *server.Context, in arguments) (string, error) {
	w.server.ResourceUpdated(in.URI)
	return in.Token, w.journal.executed("touch", in.Token)
}
