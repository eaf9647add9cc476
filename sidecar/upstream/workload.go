package upstream

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Info is what a handshake told about the workload.
type Info struct {
	Era      Era
	Revision string
	// Name and Version are the workload's own words.
	Name, Version string
	// Capabilities is the raw object.
	Capabilities []byte
}

// InfoOf reads it from an answer to initialize.
func InfoOf(in *peer.Init) Info {
	return Info{Era: EraLegacy, Revision: in.Revision, Name: in.Name, Version: in.Version, Capabilities: in.Capabilities}
}

// HandshakeError is a leg that could not be opened.
type HandshakeError struct {
	// Reason is one of config's reasons.
	Reason string
	// ExitCode is set when the command ended meanwhile.
	ExitCode *int
	// StderrTail are its last lines: for people, never for clients (O18).
	StderrTail []string
	// Err is the cause.
	Err error
}

// Error implements error; for logs.
func (e *HandshakeError) Error() string { return fmt.Sprintf("%s: %v", e.Reason, e.Err) }

// Unwrap gives the cause, e.g. the workload's own *jsonrpc.Error.
func (e *HandshakeError) Unwrap() error { return e.Err }

// ErrBusy: no leg could be opened within the time that a request is held
// (P15); the workload is as big as it may get.
var ErrBusy = errors.New("the workload has no room for another session")

// ErrNotShared: the workload has one process for all, and its owner has not
// said that people who are known by name may share it (R23).
var ErrNotShared = errors.New("the workload's process may not be shared by different people")

// ErrClosed: the workload's side of this process has been shut down.
var ErrClosed = errors.New("shutting down")

// Causes that end a leg from our side.
var (
	// ErrIdle: nothing happened for as long as the settings say (P15).
	ErrIdle = errors.New("idle")
	// ErrEvicted: the longest idle leg gave way to a new one (P15).
	ErrEvicted = errors.New("evicted for another session")
)

// Accept reports whether a workload may speak a revision with a handshake
// (B1.3).
func Accept(revision string) bool {
	p, ok := mcp.Lookup(revision)
	return ok && p.Handshake
}

// ClientInfo is how the sidecar introduces itself where no client does.
const ClientInfo = `{"name":"fairlead","version":"1"}`

// InitializeParams are those of our own handshakes: the newest legacy revision
// (B1.3) and the capabilities of a key.
func InitializeParams(key Key) []byte {
	capabilities := key.Capabilities
	if capabilities == "" {
		capabilities = "{}"
	}
	return []byte(`{"protocolVersion":"` + slices.Max(mcp.Legacy()) + `","capabilities":` + capabilities + `,"clientInfo":` + ClientInfo + `}`)
}

// RPC finds the workload's own error in a failed handshake.
func RPC(err error) (*jsonrpc.Error, bool) {
	var e *jsonrpc.Error
	ok := errors.As(err, &e)
	return e, ok
}
