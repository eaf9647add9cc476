// Package task runs work that outlives its request, for both eras of the
// protocol: the tasks of 2025-11-25 (W35) and the tasks extension of 2026-07-28
// (W36). It is one engine; wire.go knows how a task looks in each era, and
// nothing else does.
//
// It owns the state machine, ids, time to live, bounds, input while running and
// cancellation. It must not know transports, sessions, JSON-RPC methods other
// than the names it is told, or what a task does.
//
// # Where the truth is
//
// A task is one Record in a Store. Every change is a compare-and-set on its
// version, so two that happen at once cannot both win, a terminal state is
// final, and an Engine of another process over the same store sees and changes
// the same tasks. The process that runs a task keeps only what cannot be
// stored: the goroutine and its context. It learns that its task was cancelled
// or answered the way everybody does, by reading the record again.
//
// A Store never waits. Who waits does so through a Notifier, which says only
// that something changed, and looks again from time to time in case it did not
// hear of it.
//
// # A task's life
//
//	Start ──► working ◄──► input_required
//	             │               │
//	             └──► completed, failed, cancelled ──► (time to live) ──► unknown
//
// Handle is the task as the running work sees it: it sets the status message
// and asks the client. Ask puts questions into the record; whoever gets an
// answer, from tasks/update or from a reverse request on a tasks/result stream,
// hands it to Answer or Result.
//
// Ids are sealed handles bound to a principal (D9). What is foreign, forged,
// expired or gone is ErrUnknown, all alike.
package task
