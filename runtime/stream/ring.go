package stream

// overhead is what an event costs beyond its data.
const overhead = 96

// Event is one event of a stream. Data is read-only.
type Event struct {
	Seq  uint64
	Data []byte
}

func (e Event) cost() int64 { return int64(len(e.Data) + overhead) }

// ring is a window of the latest events of a stream: its outbox, and what can
// be replayed of it.
type ring struct {
	events  []Event // in order
	bytes   int64   // of events, overhead included
	evicted uint64  // the highest sequence number that was pushed out
}

func (r *ring) add(e Event, cost int64) {
	r.events = append(r.events, e)
	r.bytes += cost
}

// over reports whether the oldest event must go. One event is always held.
func (r *ring) over(l *Limits) bool {
	return len(r.events) > 1 && (len(r.events) > l.Events || r.bytes > l.Bytes)
}

// pop pushes the oldest event out.
func (r *ring) pop() (seq uint64, cost int64) {
	first := r.events[0]
	r.events[0] = Event{}
	r.events = r.events[1:]
	r.evicted = first.Seq
	r.bytes -= first.cost()
	return first.Seq, first.cost()
}
