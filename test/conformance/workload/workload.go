package workload

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
)

// Workload is the server and what it keeps.
type Workload struct {
	// Server answers; any front serves it.
	Server *server.Server

	mu                         sync.Mutex
	dynamicTool, dynamicPrompt bool
}

// New makes a workload. keys seal what it hands out; logger hears what clients
// must not; nil is silence. Close ends it.
func New(keys *seal.Keyring, logger *slog.Logger) (*Workload, error) {
	w := &Workload{}
	w.Server = server.New(server.Info{
		Name:         "fairlead-conformance",
		Title:        "Conformance workload",
		Version:      "1.0.0",
		Instructions: "Everything here is made for the conformance suite.",
	}, server.Options{
		Keys:   keys,
		Cache:  server.Cache{Hint: server.Hint{TTL: time.Second, Scope: server.Private}},
		Logger: logger,
	})
	err := errors.Join(w.addTools(), w.addAsking(), w.addPrompts(), w.addResources())
	return w, err
}

// Close ends what goes on by itself: listens, and tasks within ctx.
func (w *Workload) Close(context.Context) error {
	w.Server.Close()
	return nil
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
