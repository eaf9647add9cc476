package laptop

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// R17
func TestOnlyLoopbackIsServed(t *testing.T) {
	for url, want := range map[string]struct {
		port  int
		path  string
		wrong string
	}{
		"http://127.0.0.1:3000/mcp":     {port: 3000, path: "/mcp"},
		"http://localhost:3000":         {port: 3000, path: "/mcp"},
		"http://LOCALHOST/":             {port: 80, path: "/"},
		"http://[::1]:8080/a%20b":       {port: 8080, path: "/a%20b"},
		"http://127.1.2.3:1/x":          {port: 1, path: "/x"},
		"https://127.0.0.1:3000/mcp":    {wrong: "not https"},
		"http://example.com/mcp":        {wrong: "not on this machine"},
		"http://10.0.0.1:3000/mcp":      {wrong: "not on this machine"},
		"http://localhost.evil.com/mcp": {wrong: "not on this machine"},
		"http://u:p@127.0.0.1/mcp":      {wrong: "cannot be passed on"},
		"http://127.0.0.1/mcp?a=b":      {wrong: "cannot be passed on"},
		"http://127.0.0.1:70000/mcp":    {wrong: "1 to 65535"},
		"127.0.0.1:3000":                {wrong: "no URL"},
		"ftp://127.0.0.1/":              {wrong: "no URL"},
	} {
		t.Run(url, func(t *testing.T) {
			m, err := endpoint(url)
			if want.wrong != "" {
				var usage *UsageError
				if !errors.As(err, &usage) || !strings.Contains(err.Error(), want.wrong) {
					t.Fatalf("%v, want a usage error with %q", err, want.wrong)
				}
				return
			}
			if err != nil || m.Port != want.port || m.Path != want.path {
				t.Fatalf("%+v, %v", m, err)
			}
		})
	}
}

func TestOptionsNameOneWorkload(t *testing.T) {
	for name, test := range map[string]struct {
		o  Options
		ok bool
	}{
		"a command":                             {Options{Command: []string{"x"}}, true},
		"a URL":                                 {Options{URL: "http://localhost:1/"}, true},
		"both":                                  {Options{Command: []string{"x"}, URL: "http://localhost:1/"}, false},
		"neither":                               {Options{}, false},
		"our own":                               {Options{URL: "http://localhost:17080/mcp", Listen: DefaultListen}, false},
		"our own, where everybody can reach it": {Options{URL: "http://127.0.0.1:81/mcp", Listen: "0.0.0.0:81"}, false},
		"another port than ours":                {Options{URL: "http://127.0.0.1:3000/mcp", Listen: DefaultListen}, true},
		"our port elsewhere":                    {Options{URL: "http://127.0.0.1:81/mcp", Listen: "10.0.0.1:81"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := test.o.workload(); (err == nil) != test.ok {
				t.Error(err)
			}
		})
	}
	w, err := (&Options{Command: []string{"x"}, Startup: 24 * time.Hour}).workload()
	if err != nil || w.Stdio.StartupSeconds != config.MaxStartupSeconds {
		t.Errorf("start-up of a day became %d s: %v", w.Stdio.StartupSeconds, err)
	}
}

func TestFailuresAreExplained(t *testing.T) {
	code := func(n int) *int { return &n }
	command, url := Options{Command: []string{"npx", "-y", "x"}}, Options{URL: "http://127.0.0.1:3000/mcp"}
	for name, test := range map[string]struct {
		o     Options
		s     config.WorkloadStatus
		cause error
		kept  []string
		want  string
		final bool
	}{
		"a command that there is not": {o: command, s: config.WorkloadStatus{Reason: config.ReasonExited, ExitCode: code(127)}, want: `"npx" was not found`, final: true},
		"a file that is no program":   {o: command, s: config.WorkloadStatus{Reason: config.ReasonExited, ExitCode: code(126)}, want: `"npx" cannot be executed`, final: true},
		"a shell that did not find it": {o: command, s: config.WorkloadStatus{Reason: config.ReasonExited, ExitCode: code(127), StderrTail: []string{"sh: y: not found"}},
			want: "exit code 127 before it answered\nThe last that it wrote on stderr:\n  | sh: y: not found", final: true},
		"a signal":                    {o: command, s: config.WorkloadStatus{Reason: config.ReasonExited}, want: `"npx -y x" ended before it answered`, final: true},
		"silence":                     {o: command, s: config.WorkloadStatus{Reason: config.ReasonNoAnswer}, kept: []string{"listening"}, want: "within 2m0s", final: true},
		"silence, with stderr":        {o: command, s: config.WorkloadStatus{Reason: config.ReasonNoAnswer}, kept: []string{"listening"}, want: "  | listening", final: true},
		"chatter":                     {o: command, s: config.WorkloadStatus{Reason: config.ReasonBadOutput}, want: "logs belong on stderr", final: true},
		"nobody there":                {o: url, s: config.WorkloadStatus{Reason: config.ReasonRefused}, want: "nobody listens at http://127.0.0.1:3000/mcp, for 10s"},
		"crashes":                     {o: command, s: config.WorkloadStatus{Reason: config.ReasonCrashLooping}, want: `"npx -y x" ends soon after each start`, final: true},
		"a server's silence":          {o: url, s: config.WorkloadStatus{Reason: config.ReasonNoAnswer}, want: "3000/mcp did not answer within 10s; --startup"},
		"a page":                      {o: url, s: config.WorkloadStatus{Reason: config.ReasonBadOutput}, cause: &peer.Failure{Reason: peer.BadResponse, Status: 200, Err: errors.New("no JSON")}, want: "as an MCP server does: no JSON"},
		"a connection that is closed": {o: url, s: config.WorkloadStatus{Reason: config.ReasonBadOutput}, cause: &peer.Failure{Reason: peer.Ended, Err: errors.New("EOF")}, want: "closes the connection"},
		"a wrong path":                {o: url, s: config.WorkloadStatus{Reason: config.ReasonHTTPStatus}, cause: &peer.Failure{Reason: peer.Status, Status: 404}, want: "status 404"},
		"an answer with control characters": {o: url, s: config.WorkloadStatus{Reason: config.ReasonBadHandshake}, cause: errors.New("a\x1b[2Jb"),
			want: "as an MCP server does: a [2Jb"},
	} {
		t.Run(name, func(t *testing.T) {
			test.s.State = config.WorkloadFailed
			if got := test.o.explain(test.s, test.cause, test.kept).Error(); !strings.Contains(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if got := test.o.final(test.s); got != test.final {
				t.Errorf("final: %v", got)
			}
		})
	}
}

func TestStderrIsHeldBackAndBounded(t *testing.T) {
	var out strings.Builder
	s := &stderr{to: &out}
	for range 10000 {
		if _, err := s.Write([]byte("[abc] one line\n")); err != nil {
			t.Fatal(err)
		}
	}
	if out.Len() != 0 || len(s.kept) > keptBytes {
		t.Fatalf("%d bytes shown, %d kept", out.Len(), len(s.kept))
	}
	if last := s.last(2); len(last) != 2 || last[1] != "one line" {
		t.Errorf("last lines %q", last)
	}
	s.release()
	s.release()
	if out.Len() != keptBytes {
		t.Errorf("%d bytes shown, want %d", out.Len(), keptBytes)
	}
	_, _ = s.Write([]byte("more\n"))
	if !strings.HasSuffix(out.String(), "line\nmore\n") {
		t.Error("not shown at once afterwards")
	}
}
