package bridge

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
	"github.com/fairlead-dev/fairlead/test/testkit/program"
)

// patience bounds every wait; only a broken program reaches it.
const patience = 60 * time.Second

// bin holds the programs; recordings what was said, by where it was written
// down: toClients and toWorkloads.
var bin, recordings string

const (
	toClients   = "clients"
	toWorkloads = "workloads"
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "bridge-bin-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for _, main := range []string{"sidecar/cmd/mcp-sidecar", "test/conformance/cmd/conformance-workload"} {
		if _, err := program.BuildInto(dir, main); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	bin, recordings = dir, filepath.Join(dir, "recordings")
	for _, name := range []string{toClients, toWorkloads} {
		if err := os.MkdirAll(filepath.Join(recordings, name), 0o755); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if code == 0 && !judged() {
		code = 1
	}
	return code
}

// judged holds everything that sidecars sent, to either side, against the
// schemas of the protocol; false when something was wrong.
func judged() bool {
	good := true
	for _, name := range []string{toClients, toWorkloads} {
		fmt.Printf("to %s: ", name)
		good = wireschema.Recordings(os.Stdout, "../..", filepath.Join(recordings, name), record.Theirs) && good
	}
	return good
}

// recordedAt is a file in one of the folders of recordings.
func recordedAt(t *testing.T, folder, suffix string) string {
	name := strings.Map(func(r rune) rune {
		switch r {
		case '/', ' ', ':', ',', '+':
			return '-'
		}
		return r
	}, t.Name())
	return filepath.Join(recordings, folder, name+suffix+".jsonl")
}

// transport records what a client sends and gets.
func transport(t *testing.T) http.RoundTripper {
	t.Helper()
	log, err := record.Create(recordedAt(t, toClients, ""))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return record.Transport(http.DefaultTransport, log)
}

// launch starts a program and returns the first URL that it prints. It must end
// with 0 when it is told to at the end of the test.
func launch(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(filepath.Join(bin, name), args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	cmd.Stderr = &log
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if i := strings.Index(lines.Text(), "http://"); i >= 0 {
				select {
				case url <- strings.TrimSpace(lines.Text()[i:]):
				default: // only the first counts
				}
			}
		}
		close(url)
		ended <- cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // the exit code tells
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if t.Failed() {
			t.Logf("---- %s %s\n%s", name, strings.Join(args, " "), log.String())
		}
	})
	select {
	case at := <-url:
		if at == "" {
			t.Fatalf("%s ended without a URL", name)
		}
		return at
	case <-time.After(patience):
		t.Fatalf("%s prints no URL", name)
	}
	return ""
}
