//go:build peers

package interop

import (
	"bufio"
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// programs is the folder of our own programs, which TestMain builds.
var programs string

// sidecar is `mcp-sidecar` until the end of the test.
type sidecar struct {
	t            *testing.T
	url, metrics string
}

// runs starts `mcp-sidecar run` with these arguments and waits for its screen.
func runs(t *testing.T, args ...string) *sidecar {
	t.Helper()
	common := []string{"run", "--log-level", "INFO", "--listen", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--http-sse", "--client-roots"}
	return launches(t, "mcp-sidecar", nil, append(common, args...)...)
}

// launches starts a program of ours and waits until it has said where it
// listens; it must end by itself when it is told to.
func launches(t *testing.T, name string, env []string, args ...string) *sidecar {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs, name), args...)
	cmd.Env = append(cmd.Environ(), env...)
	said := words(t)
	read, write := io.Pipe()
	cmd.Stdout, cmd.Stderr = write, io.MultiWriter(said, write)
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := &sidecar{t: t}
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		_ = write.Close()
	}()
	go func() {
		var once sync.Once
		lines := bufio.NewScanner(read)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := lines.Text()
			if s.heard(line) {
				once.Do(func() { close(ready) })
			}
		}
		_, _ = io.Copy(io.Discard, read)
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", name, err)
		}
	})
	select {
	case <-ready:
	case err := <-ended:
		ended <- err
		t.Fatalf("%s %v ended before it was ready: %v", name, args, err)
	case <-bounded(t).Done():
		t.Fatalf("%s %v is not ready", name, args)
	}
	return s
}

// listening finds an address in a log, be it text or JSON.
var listening = regexp.MustCompile(`msg"?[=:]"?listening"?[ ,]"?port"?[=:]"?(public|metrics)"?[ ,]"?address"?[=:]"?([0-9.:]+)`)

// heard reads a line and reports whether it was the last that tells something.
func (s *sidecar) heard(line string) bool {
	if m := listening.FindStringSubmatch(line); m != nil {
		switch m[1] {
		case "public":
			s.url = "http://" + m[2] + "/mcp"
		case "metrics":
			s.metrics = "http://" + m[2] + "/metrics"
		}
	}
	ready := strings.Contains(line, "workload is ready") && s.url != "" && s.metrics != ""
	return ready || strings.Contains(line, "listens on ") // the agent
}

// metric is the sum of all series of a name.
func (s *sidecar) metric(name string) int {
	s.t.Helper()
	resp, err := http.Get(s.metrics)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	sum := 0.0
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), " ")
		if base, _, _ := strings.Cut(series, "{"); base == name {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				s.t.Fatal(err)
			}
			sum += v
		}
	}
	return int(sum)
}

// front passes requests on to it.
func (s *sidecar) front() http.Handler { return passes(s.t, s.url) }

// passes is a proxy that flushes at once and changes nothing.
func passes(t *testing.T, to string) http.Handler {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = u.Scheme, u.Host
			r.Out.Host = u.Host
		},
		FlushInterval: -1,
		Transport:     transport,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if r.Context().Err() == nil {
				t.Logf("%s %s: %v", r.Method, to, err)
			}
			w.WriteHeader(http.StatusBadGateway)
		},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError), // streams that clients leave
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server closes the body when the answer begins, and the proxy
		// would take that for a request that broke: read it first.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client has gone
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
}
