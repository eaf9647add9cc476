//go:build peers

package interop

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// lacks says what cannot be had, by what it is, and why.
type lacks map[string]string

// The things that a row may lack. What is in none of these works in every row.
const (
	elicitation = "elicitation"
	sampling    = "sampling"
	roots       = "roots"
	progress    = "progress"
	cancelling  = "cancel" // the server hears that its tool was given up
	resuming    = "resume" // a call outlives the connection of its client
	listing     = "lists"  // prompts, resources and templates
)

// backing is a workload of others behind the sidecar.
type backing struct {
	// args of `mcp-sidecar run`.
	args             func(t *testing.T) []string
	tools            tools
	prompt, resource string
	// inspector are the arguments of echo for the Inspector.
	inspector []string
	lacks     lacks
	// sessionless: without sessions, it can ask only in the modern way.
	sessionless bool
	// forgets: it may lose notifications that come close to the result
	// (mark3labs/mcp-go#969).
	forgets bool
	// remembers: it asks for roots once a process and keeps them, and clients
	// without sessions share processes.
	remembers bool
}

func stdioOf(path string, args ...string) func(*testing.T) []string {
	return func(*testing.T) []string { return append([]string{"--stdio", "--", path}, args...) }
}

func httpOf(args ...string) func(*testing.T) []string {
	return func(t *testing.T) []string { return []string{"--http", started(t, fromRoot(goServer), args...)} }
}

// viaTools are ourTools, with the answers of the foreign clients.
func viaTools() tools {
	t := ourTools
	t.elicit.want = "accept"
	t.long = call{"count", map[string]any{"n": 200}, "counted 200"}
	return t
}

func viaEverything() tools {
	t := everything
	t.long = call{"trigger-long-running-operation", map[string]any{"duration": 3, "steps": 6}, "completed"}
	return t
}

// plainTools is a server that only answers.
var plainTools = lacks{
	elicitation: "it asks nothing", sampling: "it asks nothing", roots: "it asks nothing",
	progress: "it answers at once", cancelling: "it answers at once", resuming: "it answers at once",
}

// only is plainTools, with tools alone or without.
func only(listsToo bool) lacks {
	out := maps.Clone(plainTools)
	if !listsToo {
		out[listing] = "it has tools only"
	}
	return out
}

// backings are the workloads of the rows.
func backings(t *testing.T) map[string]backing {
	dir := t.TempDir()
	note := filepath.Join(dir, "note.txt")
	if err := os.WriteFile(note, []byte("hi from a file"), 0o600); err != nil {
		t.Fatal(err)
	}
	say := []string{"message=hi"}
	deafness := lacks{cancelling: "go-sdk 1.8.0 without sessions does not tell its tools that the stream was closed"}
	return map[string]backing{
		"server-everything, pipes": {
			args: stdioOf(node(), module("server-everything/dist/index.js"), "stdio"), tools: viaEverything(),
			prompt: "simple-prompt", resource: "demo://resource/static/document/features.md", inspector: say,
			lacks: lacks{cancelling: "it does not say whether it heard"}, remembers: true,
		},
		"server-filesystem, pipes": {
			args:      stdioOf(node(), module("server-filesystem/dist/index.js"), dir),
			tools:     tools{echo: call{"read_text_file", map[string]any{"path": note}, "hi from a file"}},
			inspector: []string{"path=" + note}, lacks: only(false),
		},
		"server-memory, pipes": {
			args:  stdioOf(node(), module("server-memory/dist/index.js")),
			tools: tools{echo: call{"read_graph", nil, "entities"}}, lacks: only(false),
		},
		"server-sequential-thinking, pipes": {
			args: stdioOf(node(), module("server-sequential-thinking/dist/index.js")),
			tools: tools{echo: call{"sequentialthinking", map[string]any{
				"thought": "hi", "nextThoughtNeeded": false, "thoughtNumber": 1, "totalThoughts": 1,
			}, "thoughtNumber"}},
			inspector: []string{"thought=hi", "nextThoughtNeeded=false", "thoughtNumber=1", "totalThoughts=1"}, lacks: only(false),
		},
		"go-sdk, HTTP with sessions": {args: httpOf("-sdk", "go-sdk", "-over", "http"), tools: viaTools(), prompt: "greet", resource: "peer://note", inspector: say},
		"go-sdk, HTTP without":       {args: httpOf("-sdk", "go-sdk", "-over", "stateless"), tools: viaTools(), prompt: "greet", resource: "peer://note", inspector: say, lacks: deafness, sessionless: true},
		"go-sdk, pipes":              {args: stdioOf(fromRoot(goServer), "-sdk", "go-sdk"), tools: viaTools(), prompt: "greet", resource: "peer://note", inspector: say},
		"mcp-go, HTTP":               {args: httpOf("-sdk", "mcp-go", "-over", "http"), tools: viaTools(), prompt: "greet", resource: "peer://note", inspector: say, forgets: true},
		"mcp-go, pipes":              {args: stdioOf(fromRoot(goServer), "-sdk", "mcp-go"), tools: viaTools(), prompt: "greet", resource: "peer://note", inspector: say},
	}
}

// lacking is what a client cannot do, whatever is behind the sidecar.
func (f foreignClient) lacking() lacks {
	out := lacks{}
	if f.wordless {
		out[cancelling] = "it gives a call up without a word"
	}
	switch {
	case !f.sessions():
		out[resuming] = "its revision has no event ids: the call is lost, the conversation goes on"
	case !f.resumes:
		out[resuming] = "it does not come back for a stream that broke: the call is lost, the session lives"
	}
	return out
}

// pairs are what a client lacks with one workload only.
var pairs = map[string]map[string]lacks{
	"go-sdk": {
		"mcp-go, HTTP":  {roots: noParams},
		"mcp-go, pipes": {roots: noParams},
	},
}

// noParams: what a modern workload asks passes the sidecar as it is.
const noParams = "mcp-go 1.2.1 asks for roots without params, over which the client of go-sdk 1.8.0 fails its call"

// sessionless: the sidecar speaks the client's own era with a workload that has
// it (P19), and go-sdk 1.8.0 without sessions cannot ask in the older one.
const sessionless = "go-sdk 1.8.0 without sessions cannot ask clients of revisions that have them"

// lackingWith is all that a row lacks.
func lackingWith(client string, f foreignClient, workload string, b backing) lacks {
	out := lacks{}
	maps.Copy(out, f.lacking())
	maps.Copy(out, b.lacks)
	maps.Copy(out, pairs[client][workload])
	if b.sessionless && f.sessions() {
		for _, kind := range []string{elicitation, sampling, roots} {
			out[kind] = sessionless
		}
	}
	return out
}
