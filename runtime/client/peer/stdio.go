package peer

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/transport/ndjson"
)

// Stdio is a Link over a pair of pipes. Make it with NewStdio.
type Stdio struct {
	cfg  ndjson.Config
	conn *ndjson.Conn
}

// NewStdio makes a Link; cfg.Deliver and cfg.Ended are the Link's own.
func NewStdio(cfg ndjson.Config) *Stdio { return &Stdio{cfg: cfg} }

// Start implements Link.
func (s *Stdio) Start(r Receiver) {
	s.cfg.Deliver = func(l ndjson.Line) {
		if l.TooLong {
			r.Broken(l.Salvaged, l.Data, TooLarge)
			return
		}
		r.Deliver(l.Data)
	}
	s.cfg.Ended = r.Ended
	s.conn = ndjson.New(s.cfg)
	s.conn.Start()
}

// Inline implements Link.
func (s *Stdio) Inline() bool { return false }

// Send implements Link.
func (s *Stdio) Send(ctx context.Context, out *Outgoing) error {
	if err := s.conn.Send(ctx, out.Raw); err != nil {
		if cause := context.Cause(ctx); cause != nil && s.conn.Err() == nil {
			return cause
		}
		return &Failure{Reason: Ended, NotDelivered: true, Err: err}
	}
	return nil
}

// CloseInput is ndjson.Conn's.
func (s *Stdio) CloseInput() { s.conn.CloseInput() }

// WaitPipes returns when nothing reads or writes any more; see ndjson.Conn.Wait.
func (s *Stdio) WaitPipes() { s.conn.Wait() }

// Close implements Link.
func (s *Stdio) Close(cause error) { s.conn.Close(cause) }
