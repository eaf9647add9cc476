package streamable_test

import (
	"testing"
	"testing/synctest"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable/edgetest"
)

// edge is the endpoint with a server right behind it. The sidecar runs the same
// tables (P33).
var edge = edgetest.Target{Serve: func(t *testing.T, server dispatch.Server, s edgetest.Settings, f func(*testing.T, edgetest.Dial)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		newLab(t, &backend{}, func(l *lab) {
			l.server.Handler = server
			l.settings(func(to *streamable.Settings) {
				to.AllowedOrigins, to.MaxBodyBytes, to.RequestTimeout = s.Origins, s.MaxBody, s.Timeout
			})
			f(t, l.memory.Dial)
		}, s.Address)
	})
}}

func TestOrigin(t *testing.T)              { edgetest.Origins(t, edge) }
func TestLocalListener(t *testing.T)       { edgetest.LocalNames(t, edge) }
func TestForgedForwarding(t *testing.T)    { edgetest.Forwarded(t, edge) }
func TestPreflight(t *testing.T)           { edgetest.Preflights(t, edge) }
func TestAccept(t *testing.T)              { edgetest.Accept(t, edge) }
func TestMediaType(t *testing.T)           { edgetest.MediaTypes(t, edge) }
func TestNothingIsCompressed(t *testing.T) { edgetest.Streams(t, edge) }
func TestRepeatedFields(t *testing.T)      { edgetest.RepeatedFields(t, edge) }
func TestPaths(t *testing.T)               { edgetest.Paths(t, edge) }
func TestMethods(t *testing.T)             { edgetest.Methods(t, edge) }
func TestRawBodies(t *testing.T)           { edgetest.RawBodies(t, edge) }
func TestPipelining(t *testing.T)          { edgetest.Pipelining(t, edge) }
func TestBodyLimit(t *testing.T)           { edgetest.BodySizes(t, edge) }
func TestSlowBody(t *testing.T)            { edgetest.SlowBodies(t, edge) }
func TestExpectContinue(t *testing.T)      { edgetest.Expectations(t, edge) }
func TestBrokenBodies(t *testing.T)        { edgetest.BrokenBodies(t, edge) }
func TestInitialize(t *testing.T)          { edgetest.Initialize(t, edge) }
func TestLegacyRequests(t *testing.T)      { edgetest.LegacyRequests(t, edge) }
func TestModernValidation(t *testing.T)    { edgetest.ModernRequests(t, edge) }
func TestOddNames(t *testing.T)            { edgetest.OddNames(t, edge) }
func TestOddIDs(t *testing.T)              { edgetest.OddIDs(t, edge) }
func TestOddMeta(t *testing.T)             { edgetest.OddMeta(t, edge) }
func TestOddText(t *testing.T)             { edgetest.OddText(t, edge) }
func TestLongGet(t *testing.T)             { edgetest.LongStandalone(t, edge) }
func TestLongAnswer(t *testing.T)          { edgetest.LongAnswer(t, edge) }
func TestCursors(t *testing.T)             { edgetest.Cursors(t, edge) }
