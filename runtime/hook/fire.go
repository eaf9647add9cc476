package hook

// The methods below call a func if it is there; they may be called on a nil
// Observer.

// Start reports OperationStarted.
func (o *Observer) Start(op Operation) {
	if o != nil && o.OperationStarted != nil {
		o.OperationStarted(op)
	}
}

// Finish reports OperationEnded.
func (o *Observer) Finish(op Operation, end End) {
	if o != nil && o.OperationEnded != nil {
		o.OperationEnded(op, end)
	}
}

// Watches reports whether ends of operations are observed, so that their
// details need to be found out.
func (o *Observer) Watches() bool { return o != nil && o.OperationEnded != nil }

// OpenSession reports SessionStarted.
func (o *Observer) OpenSession(s Session) {
	if o != nil && o.SessionStarted != nil {
		o.SessionStarted(s)
	}
}

// CloseSession reports SessionEnded.
func (o *Observer) CloseSession(s Session, end SessionEnd) {
	if o != nil && o.SessionEnded != nil {
		o.SessionEnded(s, end)
	}
}

// OpenStream reports StreamOpened.
func (o *Observer) OpenStream(k StreamKind) {
	if o != nil && o.StreamOpened != nil {
		o.StreamOpened(k)
	}
}

// CloseStream reports StreamClosed.
func (o *Observer) CloseStream(k StreamKind, end StreamEnd) {
	if o != nil && o.StreamClosed != nil {
		o.StreamClosed(k, end)
	}
}

// Reject reports Rejected.
func (o *Observer) Reject(r Reason) {
	if o != nil && o.Rejected != nil {
		o.Rejected(r)
	}
}

// Buffer reports Buffered.
func (o *Observer) Buffer(delta int64) {
	if o != nil && o.Buffered != nil && delta != 0 {
		o.Buffered(delta)
	}
}

// Replay reports Replayed.
func (o *Observer) Replay(r Replay) {
	if o != nil && o.Replayed != nil {
		o.Replayed(r)
	}
}

// Drop reports Dropped.
func (o *Observer) Drop(d Drop) {
	if o != nil && o.Dropped != nil {
		o.Dropped(d)
	}
}

// Queue reports Queued.
func (o *Observer) Queue(delta int) {
	if o != nil && o.Queued != nil {
		o.Queued(delta)
	}
}

// Listen reports Listening.
func (o *Observer) Listen(delta int) {
	if o != nil && o.Listening != nil {
		o.Listening(delta)
	}
}

// Panic reports Panicked.
func (o *Observer) Panic(value any, stack []byte) {
	if o != nil && o.Panicked != nil {
		o.Panicked(value, stack)
	}
}
