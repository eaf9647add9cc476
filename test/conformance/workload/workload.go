package workload

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Workload is the server and what it keeps.
type Workload struct {
	// Server answers; any front serves it.
	Server *server.Server

	tasks *task.Engine

	mu                         sync.Mutex
	dynamicTool, dynamicPrompt bool
}

// pollEvery is what clients of tasks are told to wait.
const pollEvery = 200 * time.Millisecond

// New makes a workload. keys seal what it hands out; logger hears what clients
// must not; nil is silence. Close ends it.
func New(keys *seal.Keyring, logger *slog.Logger) (*Workload, error) {
	engine, err := task.New(task.Options{Keys: keys, Poll: pollEvery})
	if err != nil {
		return nil, err
	}
	w := &Workload{tasks: engine}
	w.Server = server.New(server.Info{
		Name:         "fairlead-conformance",
		Title:        "Conformance workload",
		Version:      "1.0.0",
		Instructions: "Everything here is made for the conformance suite.",
	}, server.Options{
		Keys:   keys,
		Cache:  server.Cache{Hint: server.Hint{TTL: time.Second, Scope: server.Private}},
		Tasks:  engine,
		Logger: logger,
	})
	if err := errors.Join(w.addTools(), w.addAsking(), w.addTasks(), w.addPrompts(), w.addResources()); err != nil {
		return nil, errors.Join(err, engine.Close(context.Background()))
	}
	return w, nil
}

// Close ends what goes on by itself: listens, and tasks within ctx.
func (w *Workload) Close(ctx context.Context) error {
	w.Server.Close()
	return w.tasks.Close(ctx)
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
