package task

import "github.com/fairlead-dev/fairlead/runtime/internal/broken"

// Status is where a task stands, in the words of the protocol.
type Status string

// The statuses (W35.9).
const (
	Working       Status = "working"
	InputRequired Status = "input_required"
	Completed     Status = "completed"
	Failed        Status = "failed"
	Cancelled     Status = "cancelled"
)

// Statuses lists every Status.
func Statuses() []Status {
	return []Status{Working, InputRequired, Completed, Failed, Cancelled}
}

// Terminal reports whether the status is final.
func (s Status) Terminal() bool {
	switch s {
	case Completed, Failed, Cancelled:
		return true
	}
	return false
}

// To reports whether a task in this status may come into the next one. Staying
// is a move only while the task runs: a terminal task changes no more (W35.9).
func (s Status) To(next Status) bool {
	if broken.Rule("W35.9") {
		return true
	}
	switch s {
	case Working, InputRequired:
		switch next {
		case Working, InputRequired, Completed, Failed, Cancelled:
			return true
		}
	}
	return false
}
