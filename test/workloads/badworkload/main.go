// Command badworkload is an MCP server that does one thing wrong, and the rest
// right: its tool "ok" works and its tool "bad" does what the command line says.
//
//	badworkload [-modern] stdio MODE        stdio
//	badworkload [-modern] http MODE PORT    streamable HTTP at /mcp
//
// With -record it writes down what it is sent, over HTTP also what it answers.
// It is a server of 2025-11-25, or with -modern of 2026-07-28. The modes are in
// stdio.go and http.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

func main() {
	modern := flag.Bool("modern", false, "be a server of 2026-07-28")
	recording := flag.String("record", "", "file to record all messages in; {pid} becomes the process id")
	flag.Parse()
	args := flag.Args()
	s := &server{modern: *modern, log: &record.Log{}}
	var err error
	if *recording != "" {
		s.log, err = record.Create(*recording)
	}
	switch {
	case err != nil:
	case len(args) == 2 && args[0] == "stdio":
		err = s.stdio(args[1])
	case len(args) == 3 && args[0] == "http":
		err = s.http(args[1], args[2])
	default:
		err = fmt.Errorf("usage: badworkload [-modern] stdio MODE | http MODE PORT")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "badworkload:", err)
		os.Exit(1)
	}
}

type server struct {
	modern bool
	log    *record.Log
}

// message is what of a message matters here.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
	Error *struct{ Code int } `json:"error"`
}

// result answers everything but the tool "bad"; empty for what gets no answer.
func (s *server) result(m *message) string {
	var result string
	switch {
	case m.Method == "initialize" && !s.modern:
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"}}`
	case m.Method == "server/discover" && s.modern:
		result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`
	case m.Method == "tools/list":
		result = `{"tools":[{"name":"ok","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
	case m.Method == "tools/call":
		result = `{"content":[{"type":"text","text":"` + m.Params.Name + `"}]}`
	case m.Method == "ping" && !s.modern:
		result = `{}`
	default:
		if m.ID == nil || m.Method == "" {
			return ""
		}
		return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"no such method"}}`
	}
	if s.modern {
		result = strings.TrimSuffix(result, "}") + `,"resultType":"complete"}`
	}
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
}

// bad reports whether this is the call that goes wrong.
func (m *message) bad() bool { return m.Method == "tools/call" && m.Params.Name == "bad" }

// asking is a request that no client has declared to take.
const asking = `{"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`

// told makes the answer to asking what the call is answered with.
func (m *message) told(answer *message) {
	m.Params.Name = "answered"
	if answer.Error != nil {
		m.Params.Name = fmt.Sprintf("refused %d", answer.Error.Code)
	}
}
