package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

var client = &http.Client{Timeout: time.Minute}

// web is a started HTTP workload.
type web struct {
	*running
	url, session string
}

func runHTTP(t *testing.T, flags ...string) *web {
	t.Helper()
	r := run(t, nil, append([]string{"serve-http", "--port", "0"}, flags...)...)
	line, err := r.stderr.ReadString('\n')
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening on ")
	if !ok {
		t.Fatalf("%q, %v", line, err)
	}
	return &web{running: r, url: "http://" + address}
}

func (w *web) do(method, path, body string, header ...string) *http.Response {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.url+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Accept", "application/json, text/event-stream")
	if w.session != "" {
		req.Header.Set("Mcp-Session-Id", w.session)
	}
	for i := 0; i < len(header); i += 2 {
		if req.Header.Set(header[i], header[i+1]); header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := client.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { res.Body.Close() })
	return res
}

// want does a request and checks status and body.
func (w *web) want(status int, part, method, path, body string, header ...string) *http.Response {
	w.Helper()
	res := w.do(method, path, body, header...)
	text, err := io.ReadAll(res.Body)
	if res.StatusCode != status || !strings.Contains(string(text), part) {
		w.Fatalf("%s %s: %d %s (%v), want %d with %s", method, path, res.StatusCode, text, err, status, part)
	}
	return res
}

func (w *web) open() {
	w.Helper()
	w.session = w.want(200, `"id":0`, "POST", "/mcp", initialize).Header.Get("Mcp-Session-Id")
	w.want(202, "", "POST", "/mcp", `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func TestTheToolsOverHTTP(t *testing.T) {
	w := runHTTP(t)
	w.want(400, "missing", "POST", "/mcp", toolCall("1", "pid", `{}`))
	w.open()
	w.want(200, `"name":"echo"`, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	res := w.want(200, `data: {"jsonrpc":"2.0","id":2`, "POST", "/mcp", toolCall("2", "echo", `{"text":"hi"}`))
	if got := res.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("content type %q", got)
	}
	w.want(404, "not found", "GET", "/mcp", "", "Mcp-Session-Id", "dead")

	// A reverse call on the request's own stream.
	res = w.do("POST", "/mcp", toolCall("3", "sample", `{"text":"q"}`))
	in := bufio.NewScanner(res.Body)
	for in.Scan() && !strings.Contains(in.Text(), "sampling/createMessage") {
	}
	w.want(202, "", "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"result":{"model":"sampled"}}`)
	for in.Scan() && !strings.Contains(in.Text(), `"id":3`) {
	}
	if !strings.Contains(in.Text(), "sampled") {
		t.Errorf("got %q", in.Text())
	}

	// What belongs to no request waits for a GET, and is not sent twice.
	changed := func(res *http.Response) {
		for in := bufio.NewScanner(res.Body); in.Scan(); {
			if strings.Contains(in.Text(), "list_changed") {
				return
			}
		}
		t.Error("no notification on the GET")
	}
	w.want(200, "sent", "POST", "/mcp", toolCall("4", "notify", `{}`))
	res = w.do("GET", "/mcp", "")
	changed(res)
	res.Body.Close()
	res = w.do("GET", "/mcp", "")
	w.want(200, "sent", "POST", "/mcp", toolCall("5", "notify", `{}`))
	changed(res)

	// A response that was lost is there for who comes back.
	text, _ := io.ReadAll(w.do("POST", "/mcp", toolCall("6", "progress", `{"n":2}`)).Body)
	first := regexp.MustCompile(`id: (\S+-1)\n`).FindSubmatch(text)
	if first == nil {
		t.Fatalf("no event id in %s", text)
	}
	again, _ := io.ReadAll(w.do("GET", "/mcp", "", "Last-Event-ID", string(first[1])).Body)
	if strings.Contains(string(again), `"progress":1,`) || !strings.Contains(string(again), `"progress":2,`) || !strings.Contains(string(again), `"id":6`) {
		t.Errorf("resumed: %s", again)
	}
	w.want(400, "unknown event id", "GET", "/mcp", "", "Last-Event-ID", "x-1")

	w.want(204, "", "DELETE", "/mcp", "")
	w.want(404, "", "POST", "/mcp", toolCall("7", "pid", `{}`))
}

func TestHTTPVariants(t *testing.T) {
	t.Run("JSON answers where they are alone", func(t *testing.T) {
		w := runHTTP(t, "--json")
		w.open()
		res := w.want(200, `"text":"hi"`, "POST", "/mcp", toolCall("1", "echo", `{"text":"hi"}`))
		if got := res.Header.Get("Content-Type"); got != "application/json" {
			t.Errorf("content type %q", got)
		}
		w.want(200, "data: ", "POST", "/mcp", toolCall("2", "progress", `{"n":1}`))
	})
	t.Run("stateless", func(t *testing.T) {
		w := runHTTP(t, "--stateless")
		w.open()
		if w.session != "" {
			t.Errorf("a session id %q", w.session)
		}
		w.want(200, "hi", "POST", "/mcp", toolCall("1", "echo", `{"text":"hi"}`))
		w.want(405, "", "GET", "/mcp", "")
		w.want(405, "", "DELETE", "/mcp", "")
	})
	t.Run("exact Host (C20)", func(t *testing.T) {
		w := runHTTP(t, "--exact-host")
		w.open()
		port := w.url[strings.LastIndexByte(w.url, ':'):]
		w.want(200, "", "POST", "/mcp", initialize, "Host", "localhost"+port)
		w.want(421, "Invalid Host", "POST", "/mcp", initialize, "Host", "tools.example.com")
		w.want(421, "Invalid Host", "POST", "/mcp", initialize, "Host", "localhost")
	})
	t.Run("a status instead of answers", func(t *testing.T) {
		runHTTP(t, "--status", "503").want(503, "", "POST", "/mcp", initialize)
	})
	t.Run("health by tool and by file", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "sick")
		w := runHTTP(t, "--health-file", file)
		w.open()
		w.want(200, "", "GET", "/healthz", "")
		w.want(200, "healthy: false", "POST", "/mcp", toolCall("1", "health", `{"ok":false}`))
		w.want(503, "sick", "GET", "/healthz", "")
		w.want(200, "healthy: true", "POST", "/mcp", toolCall("1", "health", `{"ok":true}`))
		w.want(200, "", "GET", "/healthz", "")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		w.want(503, "sick", "GET", "/healthz", "")
	})
	t.Run("SIGTERM lets answers out", func(t *testing.T) {
		w := runHTTP(t)
		w.open()
		res := w.do("POST", "/mcp", toolCall("1", "sleep", `{"ms":200}`))
		w.cmd.Process.Signal(syscall.SIGTERM)
		if text, err := io.ReadAll(res.Body); !strings.Contains(string(text), "slept 200 ms") {
			t.Errorf("%s, %v", text, err)
		}
		if code := w.ended(); code != 0 {
			t.Errorf("exit status %d", code)
		}
	})
	t.Run("a port from the environment (C37)", func(t *testing.T) {
		r := run(t, []string{"MCP_PORT=tcp://10.0.0.9:80"}, "serve-http")
		line, _ := r.stderr.ReadString('\n')
		if !strings.Contains(line, "is no port") || r.ended() != 1 {
			t.Errorf("%q, status %d", line, r.cmd.ProcessState.ExitCode())
		}
		r = run(t, []string{"MCP_PORT=0"}, "serve-http")
		if line, _ := r.stderr.ReadString('\n'); !strings.HasPrefix(line, "listening on 127.0.0.1:") {
			t.Errorf("%q", line)
		}
	})
}
