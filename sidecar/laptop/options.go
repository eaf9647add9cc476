package laptop

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// How long a workload may take until it has shaken hands, where Options do not
// say. A command may be one that fetches its program first, as npx and uvx do.
const (
	DefaultCommandStartup = 2 * time.Minute
	DefaultHTTPStartup    = 10 * time.Second
)

// DefaultListen is where the endpoint is, unless Options say otherwise.
const DefaultListen = "127.0.0.1:17080"

// Options of Run. Either Command or URL is set.
type Options struct {
	// Command is started for every session, and spoken to over its pipes.
	Command []string
	// Agent makes the process that runs ServeAgent for Command. Required with it.
	Agent func(socket string, command []string) *exec.Cmd
	// URL is the MCP endpoint of a server that listens on loopback.
	URL string
	// Listen is the address to serve on; Admin and Metrics are those for probes
	// and metrics, which are not served when empty.
	Listen, Admin, Metrics string
	// ClientRoots: clients without sessions that offer roots are asked for them
	// (B6.5).
	ClientRoots bool
	// HTTPSSE serves the HTTP+SSE transport of 2024-11-05 on the same URL.
	HTTPSSE bool
	// Startup bounds the first handshake, and those of later processes.
	Startup time.Duration
	// Screen is where the first screen goes, Notes what happens later and the
	// workload's stderr.
	Screen, Notes io.Writer
	// Verbose hands the workload's stderr on from the first line on.
	Verbose bool
	// Log is the sidecar's own log.
	Log *slog.Logger
}

// UsageError is an option that cannot be.
type UsageError struct{ Problem string }

// Error implements error.
func (e *UsageError) Error() string { return e.Problem }

// WorkloadError says why the workload could not be served, in words for the
// person who started it.
type WorkloadError struct {
	Problem string
	// LastWords are the last lines of its stderr.
	LastWords []string
}

// Error implements error.
func (e *WorkloadError) Error() string {
	if len(e.LastWords) == 0 {
		return e.Problem
	}
	return e.Problem + "\nThe last that it wrote on stderr:\n  | " + strings.Join(e.LastWords, "\n  | ")
}

// workload is the boot config's, from the options.
func (o *Options) workload() (config.Workload, error) {
	switch {
	case len(o.Command) > 0 && o.URL != "":
		return config.Workload{}, &UsageError{"a command and a URL are two workloads: give one"}
	case len(o.Command) > 0:
		s := config.DefaultStdio()
		s.StartupSeconds = int(min(max(o.startup(), time.Second), config.MaxStartupSeconds*time.Second) / time.Second)
		return config.Workload{Type: config.WorkloadStdio, Stdio: &s}, nil
	case o.URL != "":
		m, err := endpoint(o.URL)
		if err != nil {
			return config.Workload{}, err
		}
		if o.ours(m.Port) {
			return config.Workload{}, &UsageError{fmt.Sprintf("%q is where this program is to listen itself: --listen names another address", o.URL)}
		}
		return config.Workload{Type: config.WorkloadMCP, MCP: m}, nil
	}
	return config.Workload{}, &UsageError{"nothing to serve: give a command or a URL"}
}

func (o *Options) startup() time.Duration {
	switch {
	case o.Startup > 0:
		return o.Startup
	case o.URL != "":
		return DefaultHTTPStartup
	}
	return DefaultCommandStartup
}

// what names the workload for a person.
func (o *Options) what() string {
	if o.URL != "" {
		return o.URL
	}
	return strings.Join(o.Command, " ")
}

// endpoint reads a URL of loopback. What is elsewhere is refused: it would get
// requests that claim to come from this machine, over a network that nobody
// checked.
func endpoint(text string) (*config.MCP, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, &UsageError{fmt.Sprintf("%q is no URL like http://127.0.0.1:3000/mcp", text)}
	}
	if !loopback(u.Hostname()) {
		return nil, &UsageError{fmt.Sprintf("%q is not on this machine: only a server on loopback (127.0.0.1, ::1, localhost) can be served", u.Host)}
	}
	switch {
	case u.Scheme == "https":
		return nil, &UsageError{"on loopback the server is reached over http, not https"}
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, &UsageError{fmt.Sprintf("%q: user, query and fragment cannot be passed on", text)}
	}
	port, err := strconv.Atoi(u.Port())
	if u.Port() == "" {
		port, err = 80, nil
	}
	if err != nil || port < 1 || port > 65535 {
		return nil, &UsageError{fmt.Sprintf("%q: the port is no number from 1 to 65535", text)}
	}
	path := u.EscapedPath()
	if path == "" {
		path = config.DefaultMCPPath
	}
	return &config.MCP{Port: port, Path: path}, nil
}

// ours reports whether a port of loopback is the one of Listen.
func (o *Options) ours(port int) bool {
	host, own, err := net.SplitHostPort(o.Listen)
	ip := net.ParseIP(host)
	return err == nil && own == strconv.Itoa(port) && (host == "" || loopback(host) || ip != nil && ip.IsUnspecified())
}

func loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// fetches reports whether a command is one that gets its program from the
// network first.
func fetches(command []string) bool {
	return len(command) > 0 && slices.Contains([]string{"npx", "uvx", "bunx", "pnpm", "pipx", "docker", "podman"}, command[0])
}

// errInUse: somebody else listens where we would.
var errInUse = errors.New("is in use, perhaps by another mcp-sidecar: --listen 127.0.0.1:0 takes a free port")
