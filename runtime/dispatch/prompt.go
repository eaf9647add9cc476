package dispatch

// Prompt is a Server that knows of requests from which Serve returns as soon as
// its context ends: everything that it waits for it gives up then. Such a
// request needs no goroutine beside the one that its answer is written from.
type Prompt interface {
	// Prompt is asked before Serve, once. It must be quick.
	Prompt(x *Exchange) bool
}

// Prompt reports whether Work returns as soon as the request is cancelled, so
// that whoever writes the answer may do it himself. Links of the stacks promise
// nothing, and neither does Open.
func (r *Run) Prompt() bool {
	if r.listens || r.waits || r.d.receiving() != nil || r.d.sending() != nil {
		return false
	}
	server, ok := r.d.Server.(Prompt)
	return ok && server.Prompt(&r.x)
}
