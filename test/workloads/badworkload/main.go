// Command badworkload is an MCP server that does one thing wrong, and the rest
// right: a server of 2025-11-25 whose tool "ok" works and whose tool "bad" does
// what the command line says.
//
//	badworkload stdio MODE        stdio
//	badworkload http MODE PORT    streamable HTTP at /mcp
//
// The modes are in stdio.go and http.go.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	args := os.Args[1:]
	var err error
	switch {
	case len(args) == 2 && args[0] == "stdio":
		err = serveStdio(args[1])
	case len(args) == 3 && args[0] == "http":
		err = serveHTTP(args[1], args[2])
	default:
		err = fmt.Errorf("usage: badworkload stdio MODE | http MODE PORT")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "badworkload:", err)
		os.Exit(1)
	}
}

// message is what of a message matters here.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// result answers everything but the tool "bad"; empty for what gets no answer.
func (m *message) result() string {
	var result string
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"ok","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object"}}]}`
	case "tools/call":
		result = `{"content":[{"type":"text","text":"` + m.Params.Name + `"}]}`
	case "ping":
		result = `{}`
	default:
		if m.ID == nil || m.Method == "" {
			return ""
		}
		return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no such method"}}`
	}
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
}

// bad reports whether this is the call that goes wrong.
func (m *message) bad() bool { return m.Method == "tools/call" && m.Params.Name == "bad" }
