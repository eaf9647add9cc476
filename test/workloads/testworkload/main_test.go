package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "testworkload")
	if err == nil {
		binary, err = program.BuildInto(dir, "test/workloads/testworkload")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// running is a started workload.
type running struct {
	*testing.T
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *bufio.Reader
}

func run(t *testing.T, env []string, args ...string) *running {
	t.Helper()
	r := &running{T: t, cmd: exec.Command(binary, args...)}
	r.cmd.Env = append(os.Environ(), env...)
	stdin, err1 := r.cmd.StdinPipe()
	stdout, err2 := r.cmd.StdoutPipe()
	stderr, err3 := r.cmd.StderrPipe()
	if err1 != nil || err2 != nil || err3 != nil {
		t.Fatal(err1, err2, err3)
	}
	r.stdin, r.stdout, r.stderr = stdin, bufio.NewReader(stdout), bufio.NewReader(stderr)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(time.Minute, func() { r.cmd.Process.Kill() })
	t.Cleanup(func() {
		kill.Stop()
		r.cmd.Process.Kill()
		r.cmd.Wait()
	})
	return r
}

// say writes a line to the workload.
func (r *running) say(line string) {
	r.Helper()
	if _, err := io.WriteString(r.stdin, line+"\n"); err != nil {
		r.Fatal(err)
	}
}

// hear reads a line and wants it to contain each of parts.
func (r *running) hear(parts ...string) string {
	r.Helper()
	line, err := r.stdout.ReadString('\n')
	if err != nil {
		r.Fatalf("%q, %v", line, err)
	}
	for _, part := range parts {
		if !strings.Contains(line, part) {
			r.Fatalf("no %q in %.300q", part, line)
		}
	}
	return line
}

// ended waits for the end and returns the exit status.
func (r *running) ended() int {
	io.Copy(io.Discard, r.stdout)
	io.Copy(io.Discard, r.stderr)
	r.cmd.Wait()
	return r.cmd.ProcessState.ExitCode()
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}`

func toolCall(id, name, args string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"` + name + `","arguments":` + args + `,"_meta":{"progressToken":0}}}`
}

func TestTheToolsOverStdio(t *testing.T) {
	r := run(t, []string{"CANARY=1"}, "serve")
	r.say(initialize)
	r.hear(`"id":0`, `"protocolVersion":"2025-06-18"`, `"name":"testworkload"`)
	r.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	r.say(`{"jsonrpc":"2.0","id":"a","method":"tools/list"}`)
	r.hear(`"id":"a"`, `"name":"echo"`, `"name":"pid"`)
	r.say(toolCall("1", "echo", `{"text":"hi"}`))
	r.hear(`"id":1`, `"text":"hi"`)
	r.say(toolCall("2", "env", `{}`))
	r.hear(`CANARY=1`)
	r.say(toolCall("3", "big", `{"bytes":200000}`))
	if line := r.hear(`"id":3`); len(line) < 200000 {
		t.Errorf("%d bytes", len(line))
	}
	r.say(toolCall("4", "progress", `{"n":2}`))
	r.hear(`notifications/progress`, `"progressToken":0`, `"progress":1`)
	r.hear(`"progress":2`)
	r.hear(`"id":4`, `2 steps`)
	r.say(toolCall("5", "sample", `{"text":"q"}`))
	r.hear(`"id":1`, `sampling/createMessage`)
	r.say(`{"jsonrpc":"2.0","id":1,"result":{"role":"assistant","content":{"type":"text","text":"sampled"},"model":"m"}}`)
	r.hear(`"id":5`, `sampled`)
	r.say(toolCall("6", "elicit", `{"text":"name?"}`))
	r.hear(`"id":2`, `elicitation/create`)
	r.say(`{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"declined"}}`)
	r.hear(`"id":6`, `declined`, `"isError":true`)
	r.say(toolCall("7", "notify", `{}`))
	r.hear(`notifications/tools/list_changed`)
	r.hear(`"id":7`)
	r.say(toolCall("8", "pid", `{}`))
	r.hear(fmt.Sprintf(`"text":"%d"`, r.cmd.Process.Pid))
	r.say(toolCall("9", "sleep", `{"ms":60000}`))
	r.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
	r.say(`{"jsonrpc":"2.0","id":10,"method":"ping"}`)
	r.hear(`"id":10`) // and nothing for 9
	r.say(`{"jsonrpc":"2.0","id":11,"method":"server/discover"}`)
	r.hear(`"id":11`, `-32601`)
	r.say(toolCall("12", "nothing", `{}`))
	r.hear(`"id":12`, `-32602`)
	r.say(toolCall("13", "spawn", `{}`))
	line := r.hear(`"id":13`)
	var pid int
	fmt.Sscanf(line[strings.Index(line, `"text":"`):], `"text":"%d"`, &pid)
	if pid == 0 || syscall.Kill(pid, syscall.SIGKILL) != nil {
		t.Errorf("no process in %s", line)
	}
	r.say(toolCall("14", "stderr", `{"lines":1,"text":"x"}`))
	if line, _ := r.stderr.ReadString('\n'); line != "line 0 x\n" {
		t.Errorf("stderr: %q", line)
	}
	r.hear(`"id":14`)
	r.say(toolCall("15", "crash", `{"code":3}`))
	if code := r.ended(); code != 3 {
		t.Errorf("exit status %d", code)
	}
}

func TestTheMisbehaviours(t *testing.T) {
	tests := map[string]struct {
		flags []string
		do    func(r *running)
	}{
		"garbage first (C07)": {[]string{"--garbage-first"}, func(r *running) {
			r.say(initialize)
			r.hear("🚀")
			if line := r.hear(); line != "\n" {
				r.Errorf("got %q", line)
			}
			r.hear("\x1b[32m")
			r.hear(`"id":0`)
		}},
		"long instructions (C08)": {[]string{"--instructions-bytes", "130000"}, func(r *running) {
			r.say(initialize)
			if line := r.hear(`"id":0`); len(line) < 130000 {
				r.Errorf("%d bytes", len(line))
			}
		}},
		"CR LF (C09)": {[]string{"--crlf"}, func(r *running) {
			r.say(initialize)
			if line := r.hear(`"id":0`); !strings.HasSuffix(line, "}\r\n") {
				r.Errorf("ends in %q", line[len(line)-3:])
			}
			if line := r.hear(); line != "\r\n" {
				r.Errorf("got %q", line)
			}
		}},
		"CP949 (C10)": {[]string{"--bad-utf8"}, func(r *running) {
			r.say(toolCall("1", "echo", `{}`))
			r.hear("\"text\":\"\xc7\xd1\xb1\xdb\"")
			r.say(toolCall("2", "pid", `{}`))
			r.hear(`"id":2`)
		}},
		"ids as strings (C02)": {[]string{"--ids-as-strings"}, func(r *running) {
			r.say(toolCall("41", "pid", `{}`))
			r.hear(`"id":"41"`)
		}},
		"refuses before initialized (C28)": {[]string{"--before-initialized-refuse"}, func(r *running) {
			r.say(initialize)
			r.hear(`"result"`)
			r.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
			r.hear(`"id":1`, `-32600`)
			r.say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			r.say(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
			r.hear(`"id":2`, `"tools"`)
		}},
		"silent": {[]string{"--silent"}, func(r *running) {
			r.say(initialize)
			r.stdin.Close()
			if rest, _ := io.ReadAll(r.stdout); len(rest) > 0 {
				r.Errorf("it said %q", rest)
			}
		}},
		"exits at once": {[]string{"--exit", "3"}, func(r *running) {
			if code := r.ended(); code != 3 {
				r.Errorf("exit status %d", code)
			}
		}},
		"dies on cancel (C29)": {[]string{"--die-on-cancel"}, func(r *running) {
			r.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}`)
			if code := r.ended(); code != 1 {
				r.Errorf("exit status %d", code)
			}
		}},
		"another revision": {[]string{"--revision", "2024-11-05"}, func(r *running) {
			r.say(initialize)
			r.hear(`"protocolVersion":"2024-11-05"`)
		}},
		"the end of input ends it at once, calls running or not (C11)": {nil, func(r *running) {
			r.say(toolCall("1", "sleep", `{"ms":60000}`))
			r.stdin.Close()
			if code := r.ended(); code != 0 {
				r.Errorf("exit status %d", code)
			}
		}},
		"starts late": {[]string{"--start-delay", "100ms", "--stderr-lines", "1"}, func(r *running) {
			begin := time.Now()
			r.say(initialize)
			r.hear(`"id":0`)
			if took := time.Since(begin); took < 50*time.Millisecond {
				r.Errorf("answered after %v", took)
			}
			if line, _ := r.stderr.ReadString('\n'); line != "starting 0\n" {
				r.Errorf("stderr %q", line)
			}
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tt.do(run(t, nil, append([]string{"serve"}, tt.flags...)...))
		})
	}
}
