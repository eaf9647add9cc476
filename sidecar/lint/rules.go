package lint

import (
	"fmt"
	"strings"
)

// Level is how much a finding matters.
type Level string

// The levels.
const (
	Failure Level = "failure" // the protocol forbids it, or clients break on it
	Warning Level = "warning" // the protocol advises against it
	Note    Level = "note"    // a matter of judgement (P35)
)

// Rule is one thing that is checked.
type Rule struct {
	ID    string
	Level Level
	// What the rule wants, in one sentence.
	What string
}

// The rules, by what they are about.
var (
	toolDescription  = Rule{"tool-description", Warning, "Every tool has a description: it is all that a model knows of it."}
	toolSummary      = Rule{"tool-summary", Note, "A tool's description says what it does, when to use it, when not, and what comes back."}
	toolParameter    = Rule{"tool-parameter", Warning, "Every parameter of a tool has a description."}
	toolName         = Rule{"tool-name", Warning, "Tool names have 1 to 128 characters of A-Z, a-z, 0-9, `_`, `-` and `.`."}
	toolTwice        = Rule{"tool-twice", Failure, "Names are unique within a list."}
	toolGeneric      = Rule{"tool-generic", Note, "A tool's name tells its domain: hosts put the tools of many servers side by side."}
	toolCount        = Rule{"tool-count", Note, "A server has few tools, so that a model can choose."}
	toolHints        = Rule{"tool-hints", Note, "Tools say whether they only read (readOnlyHint) and whether they destroy."}
	toolAsResource   = Rule{"tool-as-resource", Note, "What is read without parameters is a resource, which a host can attach without a turn of the model."}
	inputSchema      = Rule{"input-schema", Failure, "A tool's inputSchema is a valid JSON schema whose root is an object."}
	outputSchema     = Rule{"output-schema", Failure, "A tool's outputSchema is a valid JSON schema; until 2025-11-25 its root is an object."}
	outputMatches    = Rule{"output-matches", Failure, "With an outputSchema, results have structuredContent that fits it."}
	paramHeader      = Rule{"param-header", Failure, "x-mcp-header annotations follow the rules: else clients leave the tool out."}
	listOrder        = Rule{"list-order", Failure, "A list asked for twice is the same, in the same order, whoever asks on whatever connection."}
	listPages        = Rule{"list-pages", Failure, "Cursors lead to an end."}
	cacheHints       = Rule{"cache-hints", Failure, "Lists and reads of 2026-07-28 say ttlMs and cacheScope."}
	cacheScope       = Rule{"cache-scope", Failure, "cacheScope is public only where everybody gets the same."}
	promptArgument   = Rule{"prompt-argument", Warning, "Prompt arguments are described, so that a host can make a form of them."}
	promptMessages   = Rule{"prompt-messages", Failure, "A prompt gives messages."}
	resourceMissing  = Rule{"resource-missing", Failure, "Reading what is not there is an error: -32602, or -32002 until 2025-11-25; never empty contents."}
	resourceTemplate = Rule{"resource-template", Failure, "A uriTemplate is a template of RFC 6570."}
	resourceMany     = Rule{"resource-many", Note, "Objects of one kind are a template, not one resource each."}
	resourceType     = Rule{"resource-type", Note, "Resources say their mimeType."}
	toolUnknown      = Rule{"tool-unknown", Failure, "A call of a tool that there is not is the protocol error -32602, not a result."}
	toolArguments    = Rule{"tool-arguments", Warning, "Arguments that do not fit are a result with isError and words for the model (since 2025-11-25), or -32602; never -32603."}
	methodUnknown    = Rule{"method-unknown", Failure, "A method that there is not is -32601, with status 404 in 2026-07-28."}
	headerMismatch   = Rule{"header-mismatch", Failure, "Headers that say something else than the body are -32020 with status 400 in 2026-07-28."}
	revisionUnknown  = Rule{"revision-unknown", Failure, "A revision that there is not is refused with -32022 and the list of those there are."}
	httpGet          = Rule{"http-get", Failure, "A GET without a session is 400, 404, 405 or an event stream."}
	httpDelete       = Rule{"http-delete", Failure, "A DELETE without a session is 400, 404 or 405."}
	httpOrigin       = Rule{"http-origin", Failure, "A server on loopback refuses a foreign Origin with 403: else any web page can use it."}
	serverIdentity   = Rule{"server-identity", Warning, "The server says its name and version."}
)

// Rules are all of them.
func Rules() []Rule {
	return []Rule{
		serverIdentity,
		toolDescription, toolSummary, toolParameter, toolName, toolTwice, toolGeneric, toolCount, toolHints, toolAsResource,
		inputSchema, outputSchema, outputMatches, paramHeader,
		promptArgument, promptMessages,
		resourceMissing, resourceTemplate, resourceMany, resourceType,
		listOrder, listPages, cacheHints, cacheScope,
		toolUnknown, toolArguments, methodUnknown, headerMismatch, revisionUnknown,
		httpGet, httpDelete, httpOrigin,
	}
}

// Page is docs/reference/lint.md.
func Page() string {
	var b strings.Builder
	b.WriteString(`# Rules of mcp-sidecar inspect --lint

Generated from ` + "`sidecar/lint/rules.go`" + ` by its test (` + "`-update`" + `); do not edit.

` + "`mcp-sidecar inspect --lint --url URL`" + ` checks any running MCP server. It ends with
code 4 when there is a failure. Notes are a matter of judgement and never more.
Nothing is called that could have side effects: of tools only those that say
that they only read.

| rule | level | what it wants |
|---|---|---|
`)
	for _, r := range Rules() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", r.ID, r.Level, r.What)
	}
	return b.String()
}

// Finding is a place where a rule does not hold.
type Finding struct {
	Rule  string `json:"rule"`
	Level Level  `json:"level"`
	// Place is what it is about: "tool echo", "tool echo, parameter text".
	Place   string `json:"place"`
	Message string `json:"message"`
}
