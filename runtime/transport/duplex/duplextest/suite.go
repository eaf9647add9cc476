// Package duplextest is the suite that every transport with messages both ways
// passes: the same conversation over each, in virtual time.
package duplextest

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
)

// Options are those of a transport that the suite sets; zero means a default.
type Options struct {
	Instance        string
	MaxMessageBytes int
	QueueMessages   int
	RequestTimeout  time.Duration
	MaxConcurrent   int
	DrainTime       time.Duration
}

// Start serves a Server over the transport and returns the client's end.
type Start func(t testing.TB, server dispatch.Server, o Options) *mcptest.Raw

// Run runs the suite. It is for a Test function of its own.
func Run(t *testing.T, start Start) {
	for name, test := range map[string]func(*testing.T, Start){
		"speaks every revision on one pair of pipes": testSpeaksEveryRevisionOnOnePairOfPipes,
		"refuses":                     testRefuses,
		"batch":                       testBatch,
		"initialize":                  testInitialize,
		"session ended by the server": testSessionEndedByTheServer,
		"keeps the order":             testKeepsTheOrder,
		"cancel":                      testCancel,
		"reverse calls":               testReverseCalls,
		"end of input":                testEndOfInput,
		"does not wait for ever":      testDoesNotWaitForEver,
		"listens":                     testListens,
		"bounds what is in flight":    testBoundsWhatIsInFlight,
	} {
		t.Run(name, func(t *testing.T) { test(t, start) })
	}
}

const (
	legacyCaps  = `{"sampling":{},"roots":{},"elicitation":{}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func hello(id int, revision string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"stub","version":"1"}}}`, id, revision)
}

// open begins a session of a revision.
func open(r *mcptest.Raw, revision string) {
	r.Say(mcptest.Initialize(0, revision, legacyCaps))
	r.Expect(hello(0, revision))
	r.Say(initialized)
}

func call(id any, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":%s}`, id, params)
}

func within(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, f)
}
