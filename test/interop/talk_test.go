//go:build peers

package interop

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// event is one line of a foreign client.
type event struct {
	Event, Revision string
	Names           []string
	Progress, Count int
	Result          json.RawMessage
	// Seen is how often it was asked during the call, Total since the beginning.
	Seen, Total map[string]int
	// Of a failure.
	Error string
	Code  json.RawMessage // an SDK's own may be text
	Data  struct{ Reason string }
	Ms    int
}

// failed tells whether a tool or the call itself did.
func (e event) failed() bool {
	return e.Event != "result" || strings.Contains(string(e.Result), `"isError":true`)
}

// order is one line that a foreign client does; test/peers/clients/talk.mjs
// says what there is.
type order struct {
	Do      string         `json:"do"`
	Name    string         `json:"name,omitempty"`
	Args    map[string]any `json:"args,omitempty"`
	Tell    bool           `json:"tell,omitempty"`
	Count   int            `json:"count,omitempty"`
	AfterMs int            `json:"afterMs,omitempty"`
	// TimeoutMs is the client's own deadline.
	TimeoutMs int `json:"timeoutMs,omitempty"`
}

// talker is a foreign client that does what it is told, on one connection.
type talker struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	gone bool
}

// starts a foreign client without waiting until it is connected.
func (f foreignClient) starts(t *testing.T, url string) *talker {
	t.Helper()
	argv := append(f.argv(url), "talk")
	cmd := exec.CommandContext(bounded(t), argv[0], argv[1:]...)
	cmd.Stderr = words(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &talker{t: t, cmd: cmd, in: in, out: bufio.NewScanner(out)}
	c.out.Buffer(nil, 8<<20)
	t.Cleanup(func() {
		if !c.gone {
			_ = in.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return c
}

// talks starts a foreign client and waits until it is connected.
func (f foreignClient) talks(t *testing.T, url string) *talker {
	t.Helper()
	c := f.starts(t, url)
	if e := c.next("connected"); e.Revision != f.revision {
		t.Errorf("speaks %s, want %s", e.Revision, f.revision)
	}
	return c
}

// hear is its next event.
func (c *talker) hear() (e event) {
	c.t.Helper()
	if !c.out.Scan() {
		c.t.Fatalf("it said no more: %v", c.out.Err())
	}
	if err := json.Unmarshal(c.out.Bytes(), &e); err != nil {
		c.t.Fatalf("%s: %v", c.out.Bytes(), err)
	}
	return e
}

// next is its next event, which must be one of these. Progress is passed over
// where nobody waits for it: some SDKs hand it out beside the result.
func (c *talker) next(names ...string) event {
	c.t.Helper()
	e := c.hear()
	for e.Event == "progress" && !slices.Contains(names, "progress") {
		e = c.hear()
	}
	if !slices.Contains(names, e.Event) {
		c.t.Fatalf("said %s, want %v", c.out.Bytes(), names)
	}
	return e
}

func (c *talker) say(o order) {
	c.t.Helper()
	line, err := json.Marshal(o)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(line, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// ask says one thing and hears what becomes of it.
func (c *talker) ask(o order) event {
	c.t.Helper()
	c.say(o)
	e := c.hear()
	for e.Event == "progress" {
		e = c.hear()
	}
	return e
}

// calls a tool, whose answer must hold a text.
func (c *talker) calls(name string, args map[string]any, want string) event {
	c.t.Helper()
	e := c.ask(order{Do: "call", Name: name, Args: args})
	if e.failed() || !strings.Contains(string(e.Result), want) {
		c.t.Errorf("%s: %s, want %q", name, c.out.Bytes(), want)
	}
	return e
}

// plain is a call that must work.
func (c *talker) plain() {
	c.t.Helper()
	c.calls("test_simple_text", nil, "This is a simple text response")
}

// goesOn calls a tool after connections were cut: one of those may be what the
// client takes next, and then that call fails, of which nobody can say whether
// it ran.
func (c *talker) goesOn(name string, args map[string]any, want string) {
	c.t.Helper()
	for range 3 {
		e := c.ask(order{Do: "call", Name: name, Args: args})
		if !e.failed() && strings.Contains(string(e.Result), want) {
			return
		}
		if e.Event != "failed" || strings.HasPrefix(string(e.Code), "-326") {
			break
		}
	}
	c.t.Errorf("it does not go on: %s", c.out.Bytes())
}

// bye lets it take its leave.
func (c *talker) bye() {
	c.t.Helper()
	if err := c.in.Close(); err != nil {
		c.t.Error(err)
	}
	c.next("closed")
	c.ends()
}

// ends waits for its process.
func (c *talker) ends() {
	c.t.Helper()
	c.gone = true
	late := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer late.Stop()
	if err := c.cmd.Wait(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		c.t.Errorf("it ended: %v", err)
	}
}
