package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// serveLines is the workload of the rows over stdio: a legacy MCP server on
// standard input and output as somebody writes one by hand in an hour. It
// answers in the order it is asked.
func serveLines(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	answers := json.NewEncoder(out)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				ProtocolVersion string `json:"protocolVersion"`
				Arguments       struct {
					Text string `json:"text"`
				} `json:"arguments"`
			} `json:"params"`
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		if m.ID == nil || m.Method == "" {
			continue // a notification, or an answer to nothing
		}
		answer := map[string]any{"jsonrpc": "2.0", "id": m.ID}
		switch m.Method {
		case "initialize":
			answer["result"] = map[string]any{
				"protocolVersion": m.Params.ProtocolVersion,
				"capabilities":    map[string]any{"tools": struct{}{}},
				"serverInfo":      map[string]any{"name": "lines", "version": "1"},
			}
		case "ping":
			answer["result"] = struct{}{}
		case "tools/list":
			answer["result"] = map[string]any{"tools": []any{map[string]any{"name": "echo", "inputSchema": map[string]any{"type": "object"}}}}
		case "tools/call":
			answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": m.Params.Arguments.Text}}}
		default:
			answer["error"] = map[string]any{"code": -32601, "message": "method not found"}
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

// pipe is a child that answers lines in order: a line out, a line back, and
// nothing is read.
type pipe struct {
	mu      sync.Mutex // of in, and of the order of waiting
	in      io.WriteCloser
	waiting chan chan []byte
}

// maxWaiting is more than any row has in flight.
const maxWaiting = 1024

// newPipe starts the child. It ends with this process, whose pipe it reads.
func newPipe() (*pipe, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, "-lines")
	cmd.Stderr = os.Stderr
	p := &pipe{waiting: make(chan chan []byte, maxWaiting)}
	if p.in, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(bufio.NewReaderSize(out, 64<<10))
	return p, nil
}

func (p *pipe) read(lines *bufio.Reader) {
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			fmt.Fprintln(os.Stderr, "the workload has gone:", err)
			os.Exit(1) // nobody can be measured any more
		}
		<-p.waiting <- bytes.Clone(line)
	}
}

// ask writes a line and waits for its answer.
func (p *pipe) ask(line []byte) ([]byte, error) {
	back := make(chan []byte, 1)
	p.mu.Lock()
	p.waiting <- back
	_, err := p.in.Write(line)
	p.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return <-back, nil
}

// nullBridge serves the null bridge: the body to the child's standard input,
// its answer back. Nothing is read and nobody else's answer can come first,
// for the child answers in order.
func (p *pipe) nullBridge(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err == nil {
		body, err = p.ask(append(body, '\n'))
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // a client that is gone gets no answer
}

// direct makes calls on the pipe without HTTP; arg says how many, and how many
// at once.
func (p *pipe) direct(arg string) error {
	var n, conns int
	if _, err := fmt.Sscanf(arg, "%d %d", &n, &conns); err != nil {
		return err
	}
	line := []byte(fmt.Sprintf(toolCall, "") + "\n")
	errs := make([]error, conns)
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			for range n / conns {
				answer, err := p.ask(line)
				if err == nil && !strings.Contains(string(answer), echoed) {
					err = fmt.Errorf("the workload answered %.300q", answer)
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// sendDirect has the role of that name do it.
func sendDirect(c *child, conns int) func(context.Context, int) error {
	return func(_ context.Context, n int) error {
		_, err := c.ask(fmt.Sprintf("%s %d %d", askPeer, n, conns))
		return err
	}
}
