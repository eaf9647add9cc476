package task

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Errors of an Engine, besides ErrOwnerFull and ErrFull.
var (
	// ErrUnknown: the id means nothing to this caller, whatever the reason.
	ErrUnknown = errors.New("unknown task")
	// ErrOver: the task is terminal and stays as it is.
	ErrOver = errors.New("the task is over")
	// ErrStore wraps what the store said; the task may well be there.
	ErrStore = errors.New("the task store cannot be used")
	// ErrBusy: this process runs as many tasks as it may.
	ErrBusy = errors.New("too many tasks are running")
	// ErrClosed: the engine has been closed.
	ErrClosed = errors.New("the task engine is closed")
	// ErrCursor: the cursor is none of ours for this caller.
	ErrCursor = errors.New("unknown cursor")
	// ErrInputs: the task asks more at once than it may, or too large.
	ErrInputs = errors.New("too many questions, or too large")
)

// Causes with which the context of a running task is cancelled, besides
// ErrClosed.
var (
	// ErrCancelled: somebody cancelled the task. Its outcome is dropped.
	ErrCancelled = errors.New("the task was cancelled")
	// ErrExpired: the task's time to live is over.
	ErrExpired = errors.New("the task has expired")
)

// Reasons in data.reason of errors that come from here (B16).
const (
	ReasonStore     = "store_unavailable"
	ReasonLimit     = "task_limit"
	ReasonTooLarge  = "result_too_large"
	ReasonRestarted = "workload_restarted" // B12.16: who ran it is gone
	ReasonCancelled = mcp.ReasonCancelled
)

// RPC words an error of an Engine as what a client is told. Nothing but the
// kind of the error is shown (B16.3), and every unknown id looks the same
// (W35.18, W36.15, B0.6). An error that is or wraps a *jsonrpc.Error is that.
func RPC(err error) *jsonrpc.Error {
	var own *jsonrpc.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &own):
		return own
	case errors.Is(err, ErrUnknown):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "unknown task")
	case errors.Is(err, ErrCursor):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "invalid cursor")
	case errors.Is(err, ErrOver):
		return jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "the task is over")
	case errors.Is(err, ErrOwnerFull), errors.Is(err, ErrFull):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many tasks").WithReason(ReasonLimit)
	case errors.Is(err, ErrBusy):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "too many tasks are running").WithReason(mcp.ReasonBusy)
	case errors.Is(err, ErrInputs):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the task asks for too much at once").WithReason(ReasonLimit)
	case errors.Is(err, ErrClosed):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the server is shutting down").WithReason(mcp.ReasonDraining)
	case errors.Is(err, ErrStore):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the task store is unavailable").WithReason(ReasonStore)
	case errors.Is(err, ErrCancelled):
		return cancelled()
	case errors.Is(err, ErrExpired), errors.Is(err, context.DeadlineExceeded):
		return jsonrpc.Errorf(jsonrpc.CodeInternal, "the task took too long").WithReason(mcp.ReasonTimeout)
	}
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "internal error")
}

// cancelled is what tasks/result says of a cancelled task (W40.12).
func cancelled() *jsonrpc.Error {
	return jsonrpc.Errorf(jsonrpc.CodeInternal, "task cancelled").WithReason(ReasonCancelled)
}

// stored words an error of the Store.
func stored(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrNotFound):
		return ErrUnknown
	case errors.Is(err, ErrOwnerFull), errors.Is(err, ErrFull):
		return err
	}
	return fmt.Errorf("%w: %w", ErrStore, err)
}
