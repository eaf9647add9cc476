package mcptest

import (
	"io"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client"
)

// Script returns a target for a client and the other end of it, where the test
// plays the server message by message. It can be dialled once.
func Script(t testing.TB) (client.Target, *Raw) {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	r := newRaw(t, serverOut, serverIn)
	close(r.done) // nobody is served
	return &client.Pipes{In: clientOut, Out: clientIn}, r
}
