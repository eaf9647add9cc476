package hook

// TaskStatus is where a task stands, in the words of the protocol; empty is
// where it comes from and goes to.
type TaskStatus string

// TaskRefusal is why a task was not made.
type TaskRefusal string

// The refusals, a closed set.
const (
	TaskOwnerFull TaskRefusal = "quota_principal"
	TaskFull      TaskRefusal = "quota_total"
	TaskBusy      TaskRefusal = "quota_running"
	TaskClosed    TaskRefusal = "draining"
	TaskStore     TaskRefusal = "store"
)

// TaskRefusals lists every TaskRefusal.
func TaskRefusals() []TaskRefusal {
	return []TaskRefusal{TaskOwnerFull, TaskFull, TaskBusy, TaskClosed, TaskStore}
}

// MoveTask reports TaskMoved.
func (o *Observer) MoveTask(from, to TaskStatus) {
	if o != nil && o.TaskMoved != nil {
		o.TaskMoved(from, to)
	}
}

// RefuseTask reports TaskRefused.
func (o *Observer) RefuseTask(r TaskRefusal) {
	if o != nil && o.TaskRefused != nil {
		o.TaskRefused(r)
	}
}
