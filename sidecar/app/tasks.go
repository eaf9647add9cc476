package app

import (
	"context"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/sidecar/observe"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
)

// tasksEnd is how long tasks may take to hear of their end: the workload has to
// be shut down in the time that is left.
const tasksEnd = 2 * time.Second

// newTasks makes the engine that keeps the tasks of clients. They live in
// memory, as long as this process; their results may take as much of it as a
// quarter of what may be buffered.
func newTasks(c Config, m *observe.Metrics) (*task.Engine, error) {
	return task.New(task.Options{
		Store:    &task.Memory{MaxBytes: budgetBytes() / 4},
		Keys:     c.Keys,
		Pod:      c.PodUID,
		Observer: m.Tasks(observe.NewAccessLog(c.Log)),

		DefaultTTL: c.Keep,
		MaxTTL:     c.Keep,
		Sweep:      c.Keep / 4,
	})
}

// parkingFor bounds what is parked where it is kept for less than usual.
func parkingFor(keep time.Duration) park.Limits {
	return park.Limits{Round: keep, Grace: keep}
}

func closeTasks(ctx context.Context, e *task.Engine) {
	ctx, cancel := context.WithTimeout(ctx, tasksEnd)
	defer cancel()
	_ = e.Close(ctx) // work that does not end is cut off with the workload
}
