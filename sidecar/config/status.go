package config

// Status is the body of GET /status on the admin port (O6a): it explains, it
// never decides readiness, and holds no secrets.
type Status struct {
	PodUID          string         `json:"podUID"`
	BootHash        string         `json:"bootHash"`
	ContractVersion int            `json:"contractVersion"`
	LiveDigest      string         `json:"liveDigest"`
	LiveError       string         `json:"liveError,omitempty"`
	Draining        bool           `json:"draining"`
	Ready           bool           `json:"ready"`
	Workload        WorkloadStatus `json:"workload"`
	Keys            KeyStatus      `json:"keys"`
	Counts          Counts         `json:"counts"`
}

// KeyStatus tells which keys of the key Secret are loaded, by id, and what is
// wrong with its newest content while older keys stay in use. A rotation goes
// on when every pod reports the new id (O8).
type KeyStatus struct {
	SealWith string   `json:"sealWith,omitempty"`
	IDs      []string `json:"ids,omitempty"`
	Error    string   `json:"error,omitempty"`
}

// WorkloadState is where the handshake with the workload stands.
type WorkloadState string

// The workload states.
const (
	WorkloadStarting WorkloadState = "Starting" // no handshake yet
	WorkloadUp       WorkloadState = "Ready"    // the last handshake succeeded
	WorkloadFailed   WorkloadState = "Failed"   // Reason says why
)

// Reasons of a workload that is not Ready; the operator words them for people.
const (
	ReasonAgentUnreachable = "AgentUnreachable" // the agent's socket does not answer
	ReasonExited           = "Exited"           // the command ended during the handshake
	ReasonNoAnswer         = "NoAnswer"         // nothing came within startupSeconds, or nothing any more while calls waited
	ReasonBadOutput        = "BadOutput"        // output that is not the protocol
	ReasonRefused          = "ConnectionRefused"
	ReasonHTTPStatus       = "HTTPStatus"
	ReasonBadHandshake     = "BadHandshake" // answered, but not with a usable InitializeResult
	// ReasonCrashLooping: three processes or more have ended by themselves one
	// after another, before their handshake or soon after it.
	ReasonCrashLooping = "CrashLooping"
)

// Reasons lists every reason.
func Reasons() []string {
	return []string{
		ReasonAgentUnreachable, ReasonExited, ReasonNoAnswer, ReasonBadOutput,
		ReasonRefused, ReasonHTTPStatus, ReasonBadHandshake, ReasonCrashLooping,
	}
}

// WorkloadStatus is the last handshake as it went.
type WorkloadStatus struct {
	State    WorkloadState `json:"state"`
	Reason   string        `json:"reason,omitempty"`
	ExitCode *int          `json:"exitCode,omitempty"`
	// Era is "legacy", "modern", or "dual" for both; Revision, Name and Version are the
	// workload's own words, truncated.
	Era      string `json:"era,omitempty"`
	Revision string `json:"revision,omitempty"`
	Name     string `json:"name,omitempty"`
	Version  string `json:"version,omitempty"`
	// Exposed: the workload's own port answers on the pod address (O10).
	Exposed bool `json:"exposed,omitempty"`
	// Relayed: the pipes of a process could not be passed to the sidecar, so its
	// bytes are copied (P11).
	Relayed bool `json:"relayed,omitempty"`
	// StderrTail are the last lines of the process that failed; for people
	// (kubectl mcp check), never copied into conditions (O18).
	StderrTail []string `json:"stderrTail,omitempty"`
}

// Counts are gauges of the moment.
type Counts struct {
	Sessions  int `json:"sessions"`
	Active    int `json:"active"`
	Streams   int `json:"streams"`
	Processes int `json:"processes"`
}
