package proxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"go.uber.org/goleak"
)

// childEnv makes this test binary a scripted MCP server on its standard
// streams instead of running tests.
const childEnv = "FAIRLEAD_TEST_CHILD"

func TestMain(m *testing.M) {
	if file := os.Getenv(childEnv); file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		var s script
		if err := json.Unmarshal(text, &s); err != nil {
			panic(err)
		}
		os.Exit(s.run(os.Stdin, os.Stdout))
	}
	goleak.VerifyTestMain(m)
}

// script says what the child does with a message: by "method", or by
// "method:name" of params or "method@cursor"; "*" is any other request; "#2" at the end is for the second time. Each step is a line to
// write, with these put in: $ID the id, $LINE the message as it came, $TOKEN
// its progress token, $NTH how often this entry has run. A step that begins
// with "!" is a deed: "!exit N", "!raw GOQUOTED" (no line end added), "!sleep
// MS", "!await METHOD" (go on when a message with that method, or "response",
// has come; a request is then still served).
type script map[string][]string

// plain is a server with a tool, which the tests vary.
func plain(more script) script {
	s := script{
		"initialize": {`{"jsonrpc":"2.0","id":$ID,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"tasks":{"list":{}},"logging":{},"prompts":{},"resources":{"subscribe":true}},"serverInfo":{"name":"child","version":"1"},"instructions":"be kind"}}`},
		"tools/list": {`{"jsonrpc":"2.0","id":$ID,"result":{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}}`},
		"*":          {`{"jsonrpc":"2.0","id":$ID,"result":{"saw":$LINE}}`},
	}
	for k, v := range more {
		s[k] = v
	}
	return s
}

// run serves until the end of input and returns the exit code.
func (s script) run(in io.Reader, out io.Writer) int {
	messages := make(chan string)
	go func() {
		defer close(messages)
		r := bufio.NewReaderSize(in, 1<<20)
		for {
			line, err := r.ReadString('\n')
			if line != "" {
				messages <- strings.TrimSuffix(line, "\n")
			}
			if err != nil {
				return
			}
		}
	}()
	c := &childState{s: s, messages: messages, out: out, times: map[string]int{}}
	for line := range messages {
		if code := c.serve(line); code >= 0 {
			return code
		}
	}
	return 0
}

type childState struct {
	s        script
	messages <-chan string
	later    []string // came while a script waited for something else
	out      io.Writer
	times    map[string]int
}

func (c *childState) serve(line string) int {
	if code := c.one(line); code >= 0 {
		return code
	}
	for len(c.later) > 0 {
		next := c.later[0]
		c.later = c.later[1:]
		if code := c.one(next); code >= 0 {
			return code
		}
	}
	return -1
}

func kindOf(line string) (m *jsonrpc.Message, method string) {
	m, err := jsonrpc.Parse([]byte(line), strictjson.FromWorkload)
	if err != nil {
		return &jsonrpc.Message{}, "broken"
	}
	if m.Kind == jsonrpc.KindResponse {
		return m, "response"
	}
	return m, m.Method
}

func (c *childState) one(line string) int {
	m, method := kindOf(line)
	raw, _ := strictjson.Get(m.Params, "name")
	name, _ := strictjson.String(raw)
	key := method + ":" + name
	if raw, paged := strictjson.Get(m.Params, "cursor"); paged {
		cursor, _ := strictjson.String(raw)
		key = method + "@" + cursor
	}
	steps, ok := c.s[key]
	if !ok {
		key = method
		steps, ok = c.s[key]
	}
	if !ok && m.Kind == jsonrpc.KindRequest {
		key, steps = "*", c.s["*"]
	}
	c.times[key]++
	if nth, ok := c.s[fmt.Sprint(key, "#", c.times[key])]; ok {
		steps = nth
	}
	token, _ := strictjson.GetPath(m.Params, "_meta", "progressToken")
	put := strings.NewReplacer("$ID", m.ID.String(), "$LINE", line, "$TOKEN", string(token), "$NTH", fmt.Sprint(c.times[key]))
	if len(steps) > 1 && steps[0] == "!turns" { // one step each time it is asked
		at := min(c.times[key], len(steps)-1)
		steps = steps[at : at+1]
	}
	for _, step := range steps {
		if code := c.step(step, put); code >= 0 {
			return code
		}
	}
	return -1
}

func (c *childState) step(step string, put *strings.Replacer) int {
	if !strings.HasPrefix(step, "!") {
		_, _ = io.WriteString(c.out, put.Replace(step)+"\n")
		return -1
	}
	deed, arg, _ := strings.Cut(step, " ")
	switch deed {
	case "!exit":
		code, _ := strconv.Atoi(arg)
		return code
	case "!raw":
		text, err := strconv.Unquote(arg)
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(c.out, put.Replace(text))
	case "!sleep":
		ms, _ := strconv.Atoi(arg)
		time.Sleep(time.Duration(ms) * time.Millisecond)
	case "!await":
		for line := range c.messages {
			m, method := kindOf(line)
			if method != arg || m.Kind == jsonrpc.KindRequest {
				c.later = append(c.later, line)
			}
			if method == arg {
				return -1
			}
		}
		return 0
	default:
		panic("unknown deed " + deed)
	}
	return -1
}

// saw is what the child echoed, or the text itself.
func saw(result []byte) string {
	line, ok := strictjson.Get(result, "saw")
	if !ok {
		return string(bytes.TrimSpace(result))
	}
	return string(line)
}
