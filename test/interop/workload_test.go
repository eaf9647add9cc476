//go:build peers

package interop

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
	"github.com/fairlead-dev/fairlead/test/conformance/workload"
)

// roughWorkload is the conformance workload with the tools that the scripts need.
func roughWorkload() (*workload.Workload, error) {
	w, err := workload.New(nil)
	if err != nil {
		return nil, err
	}
	if err := w.Server.AddTool(server.Tool{Name: "wait", Description: "Reports progress once and waits until it is cancelled"}, wait); err != nil {
		return nil, err
	}
	return w, server.AddTool(w.Server, server.Tool{Name: "flood", Description: "Reports progress once, and many times when a file is there"}, flood)
}

func wait(c *server.Context, _ json.RawMessage) (server.ToolOutcome, error) {
	if err := c.Progress(1, 2, "waiting"); err != nil {
		return nil, err
	}
	<-c.Done()
	return nil, context.Cause(c)
}

type floodIn struct {
	File string `json:"file"`
	N    int    `json:"n"`
	Size int    `json:"size"` // of each message, in bytes
}

// flood must not depend on its reader: that is what the script is about.
func flood(c *server.Context, in floodIn) (string, error) {
	if err := c.Progress(0, 0, "begun"); err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(in.File); err == nil {
			break
		}
		select {
		case <-c.Done():
			return "", context.Cause(c)
		case <-time.After(5 * time.Millisecond):
		}
	}
	for i := range in.N {
		if err := c.Progress(float64(i+1), 0, strings.Repeat("x", in.Size)); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("flooded %d", in.N), os.WriteFile(in.File+".done", nil, 0o600)
}

// asWorkload is the argument that makes the test's program the workload, over
// pipes.
const asWorkload = "serve-rough-workload"

func serveWorkload() int {
	w, err := roughWorkload()
	if err == nil {
		err = stdio.Serve(context.Background(), w.Server, stdio.Options{}, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	if err := w.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// tune is what a script wants of a server.
type tune struct {
	// ring bounds the events of a stream; idle how long a session is kept.
	ring int
	idle time.Duration
	// offer is what is spoken; nil is everything.
	offer mcp.Offer
}

// inProcess is our server with the rough workload, until the end of the test.
func inProcess(t *testing.T, o tune) *streamable.Server {
	t.Helper()
	w, err := roughWorkload()
	if err != nil {
		t.Fatal(err)
	}
	keys := &seal.Keyring{Server: "interop"}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	front := &streamable.Server{
		Handler: w.Server, Keys: keys, Pod: "interop", HTTPSSE: true, ParamSchema: w.Server.ParamSchema,
		StreamLimits: stream.Limits{Events: o.ring},
		Settings:     func() streamable.Settings { return streamable.Settings{Revisions: o.offer, SessionIdle: o.idle} },
	}
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := front.Shutdown(ctx, http.ErrServerClosed); err != nil {
			t.Error(err)
		}
		if err := w.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	return front
}
