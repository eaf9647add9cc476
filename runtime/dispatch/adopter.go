package dispatch

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/session"
)

// Adopter is a Server that goes on with sessions which another process opened,
// or this program before it was started again (D9). A Server that is none has
// only the sessions that it opened itself.
type Adopter interface {
	// Adopt takes up a session whose initialize was served elsewhere, on behalf
	// of a request of id. What the session had asked for there is not known
	// here: a log level, subscriptions. An error leaves it unknown. Closed is
	// called for it as for one that Open served.
	Adopt(ctx context.Context, s Session, id *auth.Identity) error
}

// errNoAdopter: the Server takes up no sessions of others.
var errNoAdopter = errors.New("the server takes up no sessions")

// CanTakeUp reports whether the Server is an Adopter.
func (d *Dispatcher) CanTakeUp() bool {
	_, ok := d.Server.(Adopter)
	return ok
}

// TakeUp is Adopt for a session whose initialize was served elsewhere: the
// Server is told, and the client counts as ready. On an error the caller ends s.
func (d *Dispatcher) TakeUp(ctx context.Context, s *session.Session, id *auth.Identity) (*Legacy, error) {
	server, ok := d.Server.(Adopter)
	if !ok {
		return nil, errNoAdopter
	}
	l := &Legacy{Session: s, d: d}
	l.ready.Store(true)
	var o Outcome
	err := func() error {
		defer d.guard(&o)
		return server.Adopt(ctx, l, id)
	}()
	if o.Err != nil {
		err = o.Err
	}
	if err != nil {
		return nil, err
	}
	l.opened = true
	s.Own(l, l.onClose)
	if s.Context().Err() != nil {
		d.closed(l, context.Cause(s.Context()))
		return nil, ErrSessionEnded
	}
	return l, nil
}
