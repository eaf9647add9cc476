package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// Task is what the suite asks for.
type Task struct {
	Scenario, URL string
	// Revision is that of the requirement set.
	Revision string
	// Context is data of the scenario; may be empty.
	Context []byte
	// Log records what is sent; nil: nothing does.
	Log *record.Log
}

// scenario works with a client that it connects itself, as what may be asked
// back differs.
type scenario func(ctx context.Context, t *Task) error

var scenarios = map[string]scenario{
	"initialize":                          listAndCall,
	"tools_call":                          listAndCall,
	"request-metadata":                    listAndCall,
	"http-invalid-tool-headers":           listAndCall,
	"json-schema-ref-no-deref":            list,
	"sse-retry":                           listAndCall,
	"http-standard-headers":               useEverything,
	"http-custom-headers":                 callAsTold,
	"elicitation-sep1034-client-defaults": acceptDefaults,
	"sep-2322-client-request-state":       confirm,
	"json-schema-2020-12-preservation":    echoSchema,
}

// Run does what a scenario asks for.
func Run(ctx context.Context, t *Task) error {
	run, ok := scenarios[t.Scenario]
	if !ok {
		return fmt.Errorf("no scenario %q; there are %s", t.Scenario, strings.Join(slices.Sorted(maps.Keys(scenarios)), ", "))
	}
	return run(ctx, t)
}

// with connects, works and closes. A revision with a handshake is asked for by
// name, as servers of the suite speak several; the newest is what a client
// finds by itself.
func (t *Task) with(ctx context.Context, h client.Handlers, work func(*client.Client) error) error {
	options := client.Options{
		Server:   client.HTTP{URL: t.URL, Client: &http.Client{Transport: record.Transport(http.DefaultTransport, t.Log)}},
		Name:     "fairlead-conformance-client",
		Version:  "1.0.0",
		Handlers: h,
	}
	if p, ok := mcp.Lookup(t.Revision); ok && p.Handshake {
		options.Revision = t.Revision
	}
	c, err := client.Connect(ctx, options)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	return errors.Join(work(c), c.Close())
}

func list(ctx context.Context, t *Task) error {
	return t.with(ctx, client.Handlers{}, func(c *client.Client) error {
		_, err := c.ListTools(ctx)
		return err
	})
}

// listAndCall calls every tool that the client was shown, with arguments made
// from its schema.
func listAndCall(ctx context.Context, t *Task) error {
	return t.with(ctx, client.Handlers{}, func(c *client.Client) error { return callAll(ctx, c) })
}

func callAll(ctx context.Context, c *client.Client) error {
	tools, err := c.ListTools(ctx)
	if err != nil {
		return fmt.Errorf("tools/list: %w", err)
	}
	for _, tool := range tools {
		arguments, err := arguments(tool.InputSchema)
		if err != nil {
			return fmt.Errorf("tool %s: %w", tool.Name, err)
		}
		if _, err := c.CallTool(ctx, tool.Name, arguments); err != nil {
			return fmt.Errorf("tool %s: %w", tool.Name, err)
		}
	}
	return nil
}

// arguments makes a value of each property's type.
func arguments(schema []byte) (map[string]any, error) {
	var s struct {
		Properties map[string]struct {
			Type any
			Enum []any
		}
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, p := range s.Properties {
		switch {
		case len(p.Enum) > 0:
			out[name] = p.Enum[0]
		case p.Type == "number", p.Type == "integer":
			out[name] = 5
		case p.Type == "boolean":
			out[name] = true
		case p.Type == "string":
			out[name] = "text"
		case p.Type == "object":
			out[name] = map[string]any{}
		case p.Type == "array":
			out[name] = []any{}
		}
	}
	return out, nil
}
