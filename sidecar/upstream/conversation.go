package upstream

import (
	"context"
	"errors"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
)

// Conversation is the one with a workload of the modern era: every request
// carries its own metadata, so one process, or none but the port, serves
// everybody at the same time (B3.5). All methods may be called concurrently.
// It lives as long as the workload's upstream; what it runs on is renewed
// underneath.
type Conversation interface {
	// Discovered is what the workload said of itself last; never nil.
	Discovered() *Discovered
	// Discover asks the workload again (B16: after -32022).
	Discover(ctx context.Context) (*Discovered, error)
	// Call makes a request whose params carry the envelope already. It is
	// peer.Peer's; Request.Value may be a peer.Handler, which gets what belongs
	// to the request. Request.Revision is the conversation's own business.
	Call(ctx context.Context, r peer.Request) (peer.Answer, error)
	// Headers reports whether requests travel with mirror headers
	// (Request.Name and Fields, W15).
	Headers() bool
}

// Discovered is a usable DiscoverResult (W5.5). Fields are read-only.
type Discovered struct {
	// Raw is the result as it came.
	Raw []byte
	// Revision is the one that is spoken.
	Revision string
	// Capabilities is the raw object, `{}` when there is none.
	Capabilities []byte
	// ServerInfo is the raw object or nil; Name and Version are its words.
	ServerInfo    []byte
	Name, Version string
	// Instructions is the raw string or nil.
	Instructions []byte
}

// ErrOtherEra: what was asked for needs a workload of another era.
var ErrOtherEra = errors.New("the workload is of another era")
