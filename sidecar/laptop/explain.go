package laptop

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// lastWords is how many lines of stderr a failure is told with.
const lastWords = 10

// final reports whether a failure of the first handshake will not pass. That of
// a command is; a server with a port may not be listening yet, or answer 503
// meanwhile, and asking again costs nothing.
func (o *Options) final(s config.WorkloadStatus) bool {
	return s.State == config.WorkloadFailed && len(o.Command) > 0 && s.Reason != config.ReasonAgentUnreachable
}

// explain words why the workload could not be served.
func (o *Options) explain(s config.WorkloadStatus, cause error, kept []string) *WorkloadError {
	e := &WorkloadError{LastWords: s.StderrTail}
	if len(e.LastWords) == 0 {
		e.LastWords = kept
	}
	e.LastWords = e.LastWords[max(0, len(e.LastWords)-lastWords):]
	e.Problem = o.problem(s, cause)
	return e
}

func (o *Options) problem(s config.WorkloadStatus, cause error) string {
	if o.URL != "" {
		return o.remote(s, cause)
	}
	what := strconv.Quote(o.what())
	switch s.Reason {
	case config.ReasonExited:
		return o.exited(s)
	case config.ReasonCrashLooping:
		return what + " ends soon after each start"
	case config.ReasonNoAnswer:
		return fmt.Sprintf("%s did not answer within %v: a server reads requests from stdin and answers on stdout; --startup gives it longer", what, o.startup())
	case config.ReasonBadOutput:
		return what + " writes on stdout what is not the protocol: logs belong on stderr"
	case config.ReasonAgentUnreachable:
		return fmt.Sprintf("%s cannot be started: %s", what, clean(cause))
	}
	return fmt.Sprintf("%s answers, but not as an MCP server does: %s", what, clean(cause))
}

// remote words a failure of a server with a URL.
func (o *Options) remote(s config.WorkloadStatus, cause error) string {
	f := new(peer.Failure)
	_ = errors.As(cause, &f) // none: the zero one says nothing
	switch {
	case s.Reason == config.ReasonRefused:
		return fmt.Sprintf("nobody listens at %s, for %v now: is the server running, and is that its port?", o.URL, o.startup())
	case s.Reason == config.ReasonNoAnswer:
		return fmt.Sprintf("%s did not answer within %v; --startup gives it longer", o.URL, o.startup())
	case s.Reason == config.ReasonHTTPStatus && f.Status != 0:
		return fmt.Sprintf("%s answers with status %d: is that its MCP endpoint?", o.URL, f.Status)
	case f.Reason == peer.Ended:
		return fmt.Sprintf("%s closes the connection without a whole answer: does it speak http, and is that its MCP endpoint?", o.URL)
	case f.Err != nil:
		cause = f.Err
	}
	return fmt.Sprintf("%s answers, but not as an MCP server does: %s", o.URL, clean(cause))
}

func (o *Options) exited(s config.WorkloadStatus) string {
	name := strconv.Quote(o.Command[0])
	code := -1
	if s.ExitCode != nil {
		code = *s.ExitCode
	}
	switch {
	case code == 127 && len(s.StderrTail) == 0:
		return name + " was not found: is it installed, and on the PATH?"
	case code == 126 && len(s.StderrTail) == 0:
		return name + " cannot be executed: is it a program, and may you run it?"
	case code < 0:
		return strconv.Quote(o.what()) + " ended before it answered"
	}
	return fmt.Sprintf("%q ended with exit code %d before it answered", o.what(), code)
}

// clean makes an error that may hold the workload's words fit for a terminal.
func clean(err error) string {
	const most = 300
	if err == nil {
		return "no reason was given"
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return ' '
		}
		return r
	}, err.Error())
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
