package observe

import (
	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// taskStatuses are the values of the label.
func taskStatuses() (all []string) {
	for _, s := range []task.Status{task.Working, task.InputRequired, task.Completed, task.Failed, task.Cancelled} {
		all = append(all, string(s))
	}
	return all
}

// Tasks observes a task engine.
func (m *Metrics) Tasks(log *AccessLog) *hook.Observer {
	return &hook.Observer{
		TaskMoved: func(from, to hook.TaskStatus) {
			if from != "" {
				m.tasks.WithLabelValues(string(from)).Dec()
			}
			if to != "" {
				m.tasks.WithLabelValues(string(to)).Inc()
			}
		},
		TaskRefused: func(r hook.TaskRefusal) { m.tasksRefused.WithLabelValues(string(r)).Inc() },
		Dropped:     func(d hook.Drop) { m.dropped.WithLabelValues(string(d)).Inc() },
		Panicked: func(value any, stack []byte) {
			m.panics.Inc()
			log.panicked(value, stack)
		},
	}
}
