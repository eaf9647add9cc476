package mcptest

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/salvage"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// Stdio serves a Server over a pair of pipes and returns the client's end.
func Stdio(t testing.TB, server dispatch.Server, o stdio.Options) *Raw {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	t.Cleanup(func() { stop(); serving.Wait() })
	r := newRaw(t, clientOut, clientIn)
	serving.Go(func() {
		defer close(r.done)
		r.err = stdio.Serve(ctx, server, o, serverIn, serverOut)
	})
	return r
}

// Memory serves a Server over an in-memory pair and returns the client's end.
func Memory(t testing.TB, server dispatch.Server, o memory.Options) *Raw {
	t.Helper()
	link := memory.Connect(server, o)
	r := &Raw{t: t, heard: make(chan []byte, 64), done: make(chan struct{}), close: link.CloseInput}
	r.write = func(b []byte) error {
		for line := range bytes.Lines(b) {
			if line = bytes.TrimSpace(line); len(line) == 0 {
				continue
			}
			if err := link.Send(context.Background(), &peer.Outgoing{Raw: bytes.Clone(line), Kind: jsonrpc.KindNotification}); err != nil {
				return err
			}
		}
		return nil
	}
	in := &ears{raw: r, stop: make(chan struct{})}
	link.Start(in)
	t.Cleanup(func() {
		close(in.stop)
		link.Close(nil)
		link.Wait()
	})
	return r
}

// ears hear for a Raw at the end of a Link.
type ears struct {
	raw  *Raw
	stop chan struct{}
}

// Deliver implements peer.Receiver.
func (e *ears) Deliver(raw []byte) {
	select {
	case e.raw.heard <- raw:
	case <-e.stop:
	}
}

// Broken implements peer.Receiver.
func (e *ears) Broken(_ salvage.Peek, begin []byte, reason peer.Reason) {
	e.raw.t.Errorf("broken: %s: %.200s", reason, begin)
}

// Ended implements peer.Receiver.
func (e *ears) Ended(err error) {
	if err != memory.ErrClosed { //nolint:errorlint // wrapped, it is another error
		e.raw.err = err
	}
	close(e.raw.heard)
	close(e.raw.done)
}
