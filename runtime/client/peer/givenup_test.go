package peer

import (
	"context"
	"testing"
)

// B6.1, B11.1: what comes while a caller gives up is not taken for the other
// call's before whoever keeps account of that knows.
func TestAGivenUpCallCountsUntilThatIsKnown(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		const text = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"whose?"}}`
		ctx, cancel := context.WithCancel(t.Context())
		given := req("tools/call", "")
		given.GivenUp = func() { s.say(text) }
		kept := req("tools/call", "")
		kept.Value = "kept"
		a, b := s.call(ctx, given), s.call(t.Context(), kept)
		s.read()
		s.read()
		cancel()
		s.read() // that it is cancelled
		<-a.done
		s.log.wantNotes(t, text)
		s.say(text, `{"jsonrpc":"2.0","id":2,"result":{}}`)
		b.wantResult(t, "{}")
		s.log.wantNotes(t, text, text+" of kept")
	})
}
