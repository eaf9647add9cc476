package mcptest

import (
	"context"
	"io"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// Way is how a client reaches a server.
type Way string

// The ways.
const (
	WayMemory     Way = "memory"
	WayStdio      Way = "stdio"
	WayStreamable Way = "streamable"
	WayHTTPSSE    Way = "http+sse"
)

// Ways lists every Way.
func Ways() []Way { return []Way{WayMemory, WayStdio, WayStreamable, WayHTTPSSE} }

// Carries reports whether a revision travels on the way.
func (w Way) Carries(revision string) bool {
	p, known := mcp.Lookup(revision)
	return known && p.On(w.binding()).Served
}

func (w Way) binding() mcp.Binding {
	switch w {
	case WayStreamable:
		return mcp.Streamable
	case WayHTTPSSE:
		return mcp.HTTPSSE
	}
	return mcp.Stdio
}

// Serving says how Reach serves. The zero value works.
type Serving struct {
	// Receive and Send are the server's stacks, see Recorder.
	Receive, Send middleware.Middleware
	// Virtual serves HTTP in memory, so that virtual time applies, instead of
	// on a loopback port.
	Virtual bool
}

// Reach serves a Server over a way until the end of the test and returns where
// a client finds it. It can be dialled any number of times.
func Reach(t testing.TB, server dispatch.Server, way Way, s Serving) client.Target {
	t.Helper()
	switch way {
	case WayMemory:
		return client.Memory(func() peer.Link {
			return memory.Connect(server, memory.Options{Receive: s.Receive, Send: s.Send})
		})
	case WayStdio:
		return client.Memory(func() peer.Link { return pipes(t, server, stdio.Options{Receive: s.Receive, Send: s.Send}) })
	}
	keys := &seal.Keyring{Server: "mcptest"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	front := &streamable.Server{Handler: server, Keys: keys, Receive: s.Receive, Send: s.Send}
	if p, ok := server.(interface {
		ParamSchema(tool string) ([]byte, bool)
	}); ok {
		front.ParamSchema = p.ParamSchema
	}
	const path = "/mcp"
	var web *Web
	if way == WayHTTPSSE {
		old := &httpsse.Server{Handler: server, Keys: keys, Path: path, Receive: s.Receive, Send: s.Send}
		web = serve(t, old, s.Virtual)
		t.Cleanup(func() { shutdown(t, old) })
	} else {
		web = serve(t, front, s.Virtual)
		t.Cleanup(func() { shutdown(t, front) })
	}
	return client.HTTP{URL: web.URL + path, Client: web.Client}
}

// Connect serves a Server over a way and connects a client to it, both until
// the end of the test. o.Server is set.
func Connect(t testing.TB, server dispatch.Server, way Way, o client.Options) *client.Client {
	t.Helper()
	return dial(t, Reach(t, server, way, Serving{}), o)
}

func dial(t testing.TB, target client.Target, o client.Options) *client.Client {
	t.Helper()
	o.Server = target
	ctx, stop := context.WithTimeout(context.Background(), Patience)
	defer stop()
	c, err := client.Connect(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// pipes serves a Server over pipes and returns a link to it.
func pipes(t testing.TB, server dispatch.Server, o stdio.Options) peer.Link {
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() { _ = stdio.Serve(ctx, server, o, serverIn, serverOut) })
	t.Cleanup(func() { stop(); serving.Wait() })
	return peer.NewStdio(ndjson.Config{In: clientOut, Out: clientIn})
}
