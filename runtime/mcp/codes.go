package mcp

// Error codes that MCP adds to JSON-RPC's (W2 table).
const (
	CodeResourceNotFound    = -32002 // 2024-11-05 to 2025-11-25
	CodeURLElicitation      = -32042 // 2025-11-25
	CodeUserRejected        = -1     // a client's answer to sampling, legacy
	CodeHeaderMismatch      = -32020 // 2026-07-28
	CodeMissingCapability   = -32021 // 2026-07-28
	CodeUnsupportedRevision = -32022 // 2026-07-28
)

// Reasons in data.reason of errors that we make (B16).
const (
	ReasonTimeout      = "timeout"
	ReasonBusy         = "busy"
	ReasonStarting     = "starting"
	ReasonUnreachable  = "unreachable"
	ReasonDraining     = "draining"
	ReasonSessionEnded = "session_ended"
	ReasonStreamLost   = "stream_lost"
	ReasonCancelled    = "cancelled"
	ReasonNoCapability = "no_capability"
	// ReasonNotInRevision: the peer's revision has no such request.
	ReasonNotInRevision = "not_in_revision"
	ReasonNoChannel     = "no_channel"
	ReasonOverflow      = "overflow"
	ReasonDuplicateID   = "duplicate_id"
	ReasonRateLimited   = "rate_limited"
	ReasonOutsideRoots  = "outside_roots"

	ReasonNotAuthenticated  = "not_authenticated"
	ReasonInsufficientScope = "insufficient_scope"
)
