// Package config is the contract between operator and sidecar: two files and
// the constants both sides must agree on (ports, paths, names). It is the only
// sidecar package that controllers import.
//
// Boot is what is tied to the pod template: rendered into it, changed only by
// a rollout, never reloaded. Live is hot-reloaded and must be valid for every
// pod of the server whatever its template (O1), so it may not name anything
// that Boot owns.
package config

// Boot is the boot config, JSON of at most MaxBootBytes in the sidecar's
// environment variable BootEnv.
type Boot struct {
	// Version of this format; 1.
	Version int `json:"version"`
	// Server names the McpServer this pod belongs to.
	Server ServerRef `json:"server"`
	// Workload says what is in the pod and how it is spoken to.
	Workload Workload `json:"workload"`
	// Clocks are the termination clocks, all computed by NewClocks.
	Clocks Clocks `json:"clocks"`
	// Roots are named to the workload where no client can be asked.
	Roots []Root `json:"roots,omitempty"`
	// ClientRoots: clients without sessions that offer roots are asked for them
	// when a legacy workload asks (B6.5, P7).
	ClientRoots bool `json:"clientRoots,omitempty"`
	// ContractVersions are the live contract versions this template's sidecar
	// is known to read, newest first.
	ContractVersions []int `json:"contractVersions"`
}

// ServerRef identifies a McpServer.
type ServerRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
}

// WorkloadType is how the sidecar talks to the workload.
type WorkloadType string

// The workload types.
const (
	WorkloadStdio WorkloadType = "Stdio"
	WorkloadMCP   WorkloadType = "MCP"
)

// Workload is a union: exactly the member that Type names is set.
type Workload struct {
	Type  WorkloadType `json:"type"`
	Stdio *Stdio       `json:"stdio,omitempty"`
	MCP   *MCP         `json:"mcp,omitempty"`
}

// Stdio configures a workload that the agent starts (R23). Seconds and bytes
// are positive.
type Stdio struct {
	ProcessModel    string `json:"processModel"` // ProcessPerSession, …
	MaxProcesses    int    `json:"maxProcesses"`
	IdleSeconds     int    `json:"idleSeconds"`
	StartupSeconds  int    `json:"startupSeconds"`
	MaxMessageBytes int    `json:"maxMessageBytes"`
	// OnIdle is what becomes of a session whose process ends: OnIdleEnd, the
	// same as "", or OnIdleRecreate (P15).
	OnIdle string `json:"onIdle,omitempty"`
	// SharedAcrossPrincipals is SharedAllow where different people may use one
	// Shared process; else they are refused (R23).
	SharedAcrossPrincipals string `json:"sharedAcrossPrincipals,omitempty"`
	// Leasing says when a call of a client without a session has a process to
	// itself: LeasingAuto, the same as "", LeasingAlways or LeasingNever (P5).
	Leasing string `json:"leasing,omitempty"`
	// Revision as in MCP.
	Revision string `json:"revision,omitempty"`
}

// MCP configures a workload that speaks HTTP on loopback.
type MCP struct {
	Port int    `json:"port"`
	Path string `json:"path"`
	// Revision is the one that the workload speaks; "": find out (B1.1).
	Revision string `json:"revision,omitempty"`
}

// Root is a root that the sidecar itself names to the workload where no client
// can be asked for roots (B6.5, R23).
type Root struct {
	URI  string `json:"uri"`
	Name string `json:"name,omitempty"`
}

// Clocks are the termination clocks of O3, in seconds. Grace is their sum, so
// no hook can run into the kubelet's KILL.
type Clocks struct {
	PropagationSeconds  int `json:"propagationSeconds"`
	DrainSeconds        int `json:"drainSeconds"`
	WorkloadTermSeconds int `json:"workloadTermSeconds"`
	SidecarSeconds      int `json:"sidecarSeconds"`
	MarginSeconds       int `json:"marginSeconds"`
}
