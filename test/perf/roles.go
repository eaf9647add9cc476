package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// The roles of children.
const (
	roleFloorJSON = "floor-json" // net/http and encoding/json
	roleFloorSSE  = "floor-sse"  // the same, answering by an event
	roleServer    = "server"     // runtime/server with a raw tool
	roleTyped     = "typed"      // the same with a tool of Go types
	roleTight     = "tight"      // the same with a quarter of the budget
	roleSlow      = "slow"       // a server that tells everybody
	roleClients   = "clients"    // clients that call where they are told to
	roleLines     = "lines"      // servers on pipes

	roleLegacy     = "workload-legacy" // runtime/server of the legacy revisions
	roleModern     = "workload-modern" // of the modern ones
	roleNullPass   = "null-pass"       // forwards over HTTP and reads nothing
	roleReverse    = "reverse"         // httputil.ReverseProxy
	roleNullBridge = "null-bridge"     // forwards to a pipe and reads nothing
	roleDirect     = "direct"          // calls on a pipe
)

func newRole(name string) (role, error) {
	switch name {
	case roleFloorJSON:
		return role{handler: http.HandlerFunc(floorJSON)}, nil
	case roleFloorSSE:
		return role{handler: http.HandlerFunc(floorSSE)}, nil
	case roleServer:
		s, err := rawServer()
		return role{handler: endpoint(s)}, err
	case roleTight:
		s, err := rawServer()
		front := endpoint(s)
		front.Budget = &stream.Budget{Max: tightBudget}
		return role{handler: front}, err
	case roleTyped:
		s, err := typedServer()
		return role{handler: endpoint(s)}, err
	case roleSlow:
		s, err := rawServer()
		front := endpoint(s)
		front.Budget = &stream.Budget{}
		return role{
			handler: front, narrow: true, backlog: front.Budget.Used,
			tell: func(n, bytes int) error { return tellAll(s, n, bytes) },
		}, err
	case roleClients:
		return role{handler: http.NotFoundHandler(), peer: callAll}, nil
	case roleLines:
		s, err := rawServer()
		return role{handler: http.NotFoundHandler(), peer: func(string) error { return feedAll(s) }}, err
	case roleLegacy:
		return workload(mcp.Legacy())
	case roleModern:
		return workload(mcp.Modern())
	case roleNullPass:
		h := newHop()
		return role{handler: http.HandlerFunc(h.nullPass), peer: h.tell}, nil
	case roleReverse:
		h := newHop()
		return role{handler: h.reverseProxy(), peer: h.tell}, nil
	case roleNullBridge:
		p, err := newPipe()
		return role{handler: http.HandlerFunc(p.nullBridge)}, err
	case roleDirect:
		p, err := newPipe()
		return role{handler: http.NotFoundHandler(), peer: p.direct}, err
	}
	return role{}, fmt.Errorf("no role %q", name)
}

// tightBudget is less than hostile bodies want at once.
const tightBudget = stream.DefaultBudget / 4

func info() server.Info { return server.Info{Name: "perf", Version: "1.0.0"} }

// rawServer has one tool that reads its arguments itself.
func rawServer() (*server.Server, error) {
	s := server.New(info(), server.Options{})
	return s, s.AddTool(server.Tool{
		Name:        "echo",
		InputSchema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}, func(_ *server.Context, args json.RawMessage) (server.ToolOutcome, error) {
		var in struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, err
		}
		return server.TextResult(in.Text), nil
	})
}

type textArgs struct {
	Text string `json:"text" jsonschema:"what to say"`
}

// typedServer has the same tool bound to a Go type.
func typedServer() (*server.Server, error) {
	s := server.New(info(), server.Options{})
	return s, server.AddTool(s, server.Tool{Name: "echo"}, func(_ *server.Context, in textArgs) (*server.ToolResult, error) {
		return server.TextResult(in.Text), nil
	})
}

// endpoint serves s as it would be deployed, but for one thing: nobody is
// thrown out because he reads slowly, so that a stalled reader stays one.
func endpoint(s *server.Server) *streamable.Server {
	keys := &seal.Keyring{Server: "perf"}
	if err := keys.LoadEphemeral(); err != nil {
		panic(err) // a key of the right length
	}
	return &streamable.Server{
		Handler: s, Keys: keys, Pod: "perf", Epoch: 1,
		ParamSchema: s.ParamSchema,
		Settings:    func() streamable.Settings { return streamable.Settings{WriteTimeout: 10 * time.Minute} },
	}
}

// workload is what stands behind bridges: a server of some revisions only.
func workload(revisions mcp.Offer) (role, error) {
	s, err := rawServer()
	front := endpoint(s)
	front.Settings = func() streamable.Settings { return streamable.Settings{Revisions: revisions} }
	return role{handler: front}, err
}

// tellEvery is the pause between notifications to all.
const tellEvery = 5 * time.Millisecond

// tellAll sends n notifications to every session, each with the time it was
// sent at and so much padding.
func tellAll(s *server.Server, n, size int) error {
	padding := bytes.Repeat([]byte("x"), size)
	for range n {
		params := json.RawMessage(fmt.Appendf(nil, `{`+sentMark+`%d,"level":"error","data":"%s"}`, time.Now().UnixNano(), padding))
		if err := s.Broadcast("notifications/message", params); err != nil {
			return err
		}
		time.Sleep(tellEvery)
	}
	return nil
}

// callAll makes hostileBodies clients call a tool of the server at url.
func callAll(url string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, hostileBodies)
	for i := range hostileBodies {
		wg.Go(func() { errs[i] = callOne(ctx, url) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func callOne(ctx context.Context, url string) error {
	c, err := client.Connect(ctx, client.Options{
		Server: client.HTTP{URL: url}, Revision: legacyRevision,
		Reconnect: client.Reconnect{Never: true}, Retry: client.Retry{Attempts: 1},
	})
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(ctx, hostileWait+time.Second)
	defer cancel()
	if _, err := c.CallTool(ctx, "echo", nil); err == nil {
		return errors.New("half an event was taken for an answer")
	}
	return nil
}

// feedAll gives as many servers on pipes a line that does not end.
func feedAll(s *server.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var wg sync.WaitGroup
	errs := make([]error, hostileBodies)
	// One budget, as one process has.
	budget := &stream.Budget{}
	for i := range hostileBodies {
		wg.Go(func() {
			in, feed := io.Pipe()
			wg.Go(func() {
				chunk := bytes.Repeat([]byte("a"), 64<<10)
				for range hostileBytes / len(chunk) {
					if _, err := feed.Write(chunk); err != nil {
						break // it has had enough
					}
				}
				time.Sleep(hostileWait)
				_ = feed.Close()
			})
			errs[i] = stdio.Serve(ctx, s, stdio.Options{Budget: budget}, in, nopCloser{io.Discard})
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
