package agent

import "context"

// Dialer reaches the agent of this pod. The zero value is not usable; it may
// be copied and used concurrently.
type Dialer struct {
	// Socket is the path of the agent's socket, under 100 bytes.
	Socket string
}

// Start starts a process. Errors are *Error. ctx bounds the start only (10 s
// if it has no deadline), not the process.
func (d Dialer) Start(ctx context.Context, req StartRequest) (*Process, error) { return nil, nil }

// Check asks whether an agent listens that speaks our version. It starts
// nothing and costs one round trip. Errors are *Error. ctx as in Start.
func (d Dialer) Check(ctx context.Context) error { return nil }
