package task

import (
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

func (e *Engine) moved(from, to Status) {
	if from != to {
		e.o.Observer.MoveTask(hook.TaskStatus(from), hook.TaskStatus(to))
	}
}

func refusal(err error) hook.TaskRefusal {
	switch {
	case errors.Is(err, ErrOwnerFull):
		return hook.TaskOwnerFull
	case errors.Is(err, ErrFull):
		return hook.TaskFull
	case errors.Is(err, ErrBusy):
		return hook.TaskBusy
	case errors.Is(err, ErrClosed):
		return hook.TaskClosed
	}
	return hook.TaskStore
}
