package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tool is one of ours. Its arguments are all optional.
type tool struct {
	name, description string
	properties        object
	run               func(ctx context.Context, c *call, a arguments) (string, error)
}

// arguments are those of all tools.
type arguments struct {
	Text  string `json:"text"`
	MS    int    `json:"ms"`
	Code  int    `json:"code"`
	Bytes int    `json:"bytes"`
	N     int    `json:"n"`
	Lines int    `json:"lines"`
	OK    bool   `json:"ok"`
	Group bool   `json:"group"`
}

// maxBytes bounds what the tool big makes.
const maxBytes = 64 << 20

func integer() object { return object{"type": "integer"} }
func boolean() object { return object{"type": "boolean"} }
func str() object     { return object{"type": "string"} }

// tools in the order in which they are listed.
func tools() []tool {
	return []tool{
		{"echo", "Returns text.", object{"text": str()}, func(_ context.Context, c *call, a arguments) (string, error) {
			if c.o.badUTF8 {
				return cp949, nil
			}
			return a.Text, nil
		}},
		{"sleep", "Returns after ms milliseconds, unless cancelled.", object{"ms": integer()}, sleepTool},
		{"crash", "Exits with code, without an answer.", object{"code": integer()}, func(_ context.Context, _ *call, a arguments) (string, error) {
			fmt.Fprintln(os.Stderr, "crash: as asked")
			os.Exit(a.Code)
			return "", nil
		}},
		{"spawn", "Starts a process that ignores TERM, in a session of its own unless group; returns its pid.", object{"group": boolean()}, spawnTool},
		{"env", "Returns the environment, one variable a line, sorted.", object{}, func(context.Context, *call, arguments) (string, error) {
			env := os.Environ()
			slices.Sort(env)
			return strings.Join(env, "\n"), nil
		}},
		{"big", "Returns that many bytes of text.", object{"bytes": integer()}, func(_ context.Context, _ *call, a arguments) (string, error) {
			if a.Bytes < 0 || a.Bytes > maxBytes {
				return "", fmt.Errorf("bytes must be 0 to %d", maxBytes)
			}
			return strings.Repeat("b", a.Bytes), nil
		}},
		{"progress", "Sends n progress notifications, ms apart, with text.", object{"n": integer(), "ms": integer(), "text": str()}, progressTool},
		{"sample", "Asks the client's model by sampling/createMessage.", object{"text": str()}, func(ctx context.Context, c *call, a arguments) (string, error) {
			return asked(c.ask(ctx, "sampling/createMessage", object{
				"messages":  []any{object{"role": "user", "content": object{"type": "text", "text": a.Text}}},
				"maxTokens": 100,
			}))
		}},
		{"elicit", "Asks the user for a name by elicitation/create.", object{"text": str()}, func(ctx context.Context, c *call, a arguments) (string, error) {
			return asked(c.ask(ctx, "elicitation/create", object{
				"message":         a.Text,
				"requestedSchema": object{"type": "object", "properties": object{"name": str()}},
			}))
		}},
		{"roots", "Asks the client for its roots by roots/list.", object{}, func(ctx context.Context, c *call, _ arguments) (string, error) {
			return asked(c.ask(ctx, "roots/list", object{}))
		}},
		{"stderr", "Writes lines to stderr.", object{"lines": integer(), "text": str()}, func(_ context.Context, _ *call, a arguments) (string, error) {
			for i := range a.Lines {
				fmt.Fprintf(os.Stderr, "line %d %s\n", i, a.Text)
			}
			return "written", nil
		}},
		{"notify", "Sends notifications/tools/list_changed, which belongs to no request.", object{}, func(_ context.Context, c *call, _ arguments) (string, error) {
			c.push(encode(message{Method: "notifications/tools/list_changed"}))
			return "sent", nil
		}},
		{"health", "Makes /healthz fail, or not.", object{"ok": boolean()}, func(_ context.Context, _ *call, a arguments) (string, error) {
			sick.Store(!a.OK)
			return fmt.Sprint("healthy: ", a.OK), nil
		}},
		{"pid", "Returns the process id.", object{}, func(context.Context, *call, arguments) (string, error) {
			return fmt.Sprint(os.Getpid()), nil
		}},
	}
}

func listTools() []any {
	var list []any
	for _, t := range tools() {
		list = append(list, object{
			"name":        t.name,
			"description": t.description,
			"inputSchema": object{"type": "object", "properties": t.properties},
		})
	}
	return list
}

// tool serves tools/call.
func (c *call) tool(ctx context.Context) (any, error) {
	var p struct {
		Name      string    `json:"name"`
		Arguments arguments `json:"arguments"`
	}
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return nil, err
	}
	for _, t := range tools() {
		if t.name != p.Name {
			continue
		}
		if c.o.journal != nil {
			if _, err := fmt.Fprintf(c.o.journal, "%s %s %d\n", p.Arguments.Text, t.name, os.Getpid()); err != nil {
				return nil, err
			}
		}
		text, err := t.run(ctx, c, p.Arguments)
		result := object{}
		if err != nil {
			text = err.Error()
			result["isError"] = true
		}
		result["content"] = []any{object{"type": "text", "text": text}}
		return result, nil
	}
	return nil, &failure{codeInvalidParams, fmt.Sprintf("unknown tool %.100q", p.Name)}
}

func asked(result json.RawMessage, err error) (string, error) { return string(result), err }

func sleepTool(ctx context.Context, _ *call, a arguments) (string, error) {
	select {
	case <-time.After(time.Duration(a.MS) * time.Millisecond):
		return fmt.Sprintf("slept %d ms", a.MS), nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func spawnTool(_ context.Context, _ *call, a arguments) (string, error) {
	cmd := exec.Command("/proc/self/exe", "hang")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: !a.Group}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return "", err
	}
	go func() { _ = cmd.Wait() }()
	return fmt.Sprint(cmd.Process.Pid), nil
}

func progressTool(ctx context.Context, c *call, a arguments) (string, error) {
	for i := range a.N {
		if len(c.token) > 0 {
			c.notify("notifications/progress", object{
				"progressToken": c.token, "progress": i + 1, "total": a.N, "message": fmt.Sprint("step ", i+1, " ", a.Text),
			})
		}
		if _, err := sleepTool(ctx, c, a); err != nil {
			return "", err
		}
	}
	return fmt.Sprint(a.N, " steps ", a.Text), nil
}
