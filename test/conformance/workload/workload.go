package workload

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/transport/httpsse"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// Workload is the server and what it keeps.
type Workload struct {
	// Server answers; any front serves it.
	Server *server.Server

	keys   *seal.Keyring
	tasks  *task.Engine
	fronts []front

	mu                         sync.Mutex
	dynamicTool, dynamicPrompt bool
}

// pollEvery is what clients of tasks are told to wait.
const pollEvery = 200 * time.Millisecond

// New makes a workload. logger hears what clients must not; nil is silence.
// Close ends it.
func New(logger *slog.Logger) (*Workload, error) { return NewPaged(logger, 0) }

// NewPaged is New with lists in pages of this size; 0 is the default.
func NewPaged(logger *slog.Logger, pageSize int) (*Workload, error) {
	keys := &seal.Keyring{Server: "conformance"}
	if err := keys.LoadEphemeral(); err != nil {
		return nil, err
	}
	engine, err := task.New(task.Options{Keys: keys, Poll: pollEvery})
	if err != nil {
		return nil, err
	}
	w := &Workload{keys: keys, tasks: engine}
	w.Server = server.New(server.Info{
		Name:         "fairlead-conformance",
		Title:        "Conformance workload",
		Version:      "1.0.0",
		Instructions: "Everything here is made for the conformance suite.",
	}, server.Options{
		Keys:     keys,
		PageSize: pageSize,
		Cache:    server.Cache{Hint: server.Hint{TTL: time.Second, Scope: server.Private}},
		Tasks:    engine,
		Logger:   logger,
		// A bridge asks clients of the other era under the suite's own keys.
		NameInputs: true,
	})
	if err := errors.Join(w.addTools(), w.addAsking(), w.addTasks(), w.addPrompts(), w.addResources()); err != nil {
		return nil, errors.Join(err, engine.Close(context.Background()))
	}
	return w, nil
}

// Front serves the workload over HTTP, streamable and HTTP+SSE under one URL.
// Close ends it too. Not to be called concurrently.
func (w *Workload) Front(offer mcp.Offer) http.Handler {
	front := &streamable.Server{
		Handler: w.Server, Keys: w.keys, Pod: "conformance", HTTPSSE: true, ParamSchema: w.Server.ParamSchema,
		Settings: func() streamable.Settings { return streamable.Settings{Revisions: offer} },
	}
	w.fronts = append(w.fronts, front)
	return front
}

// Older serves the workload over HTTP+SSE and nothing else, as servers of
// 2024-11-05 do. Otherwise as Front.
func (w *Workload) Older() http.Handler {
	front := &httpsse.Server{
		Handler: w.Server, Keys: w.keys, Pod: "conformance", Path: "/mcp",
		Settings: func() httpsse.Settings { return httpsse.Settings{Revisions: mcp.Offer{mcp.Revision20241105}} },
	}
	w.fronts = append(w.fronts, front)
	return front
}

// front is what has to be ended.
type front interface {
	Shutdown(ctx context.Context, cause error) error
}

// Offer reads what a person says to serve: nothing is everything, "legacy" and
// "modern" are the eras, anything else is a list of revisions with commas.
func Offer(text string) (mcp.Offer, error) {
	switch text {
	case "":
		return nil, nil
	case "legacy":
		return mcp.Legacy(), nil
	case "modern":
		return mcp.Modern(), nil
	}
	offer := mcp.Offer(strings.Split(text, ","))
	for _, revision := range offer {
		if _, ok := mcp.Lookup(revision); !ok {
			return nil, fmt.Errorf("there is no revision %q; there are %s", revision, strings.Join(mcp.Revisions(), ", "))
		}
	}
	return offer, nil
}

// errClosed is the cause of everything that ends with the workload.
var errClosed = errors.New("the workload ends")

// Close ends listens, sessions of its fronts, and tasks, within ctx.
func (w *Workload) Close(ctx context.Context) error {
	w.Server.Close()
	var errs []error
	for _, front := range w.fronts {
		errs = append(errs, front.Shutdown(ctx, errClosed))
	}
	return errors.Join(append(errs, w.tasks.Close(ctx))...)
}

func (w *Workload) addTools() error {
	var errs []error
	for _, tools := range [][]tool{contentTools(), w.liveTools()} {
		for _, t := range tools {
			errs = append(errs, w.Server.AddTool(t.Tool, t.run))
		}
	}
	return errors.Join(errs...)
}
