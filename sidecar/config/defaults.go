package config

// Defaults and bounds. They are here and nowhere else: the operator fills in
// defaults when it renders, the sidecar never does, so that a file says
// everything it means (R22).
const (
	BootVersion = 1
	LiveVersion = 2

	DefaultDrainSeconds = 30
	MaxDrainSeconds     = 3600 // O25

	// The process models (R23).
	ProcessPerSession = "PerSession"
	ProcessShared     = "Shared"
	ProcessPooled     = "Pooled"
	// What becomes of a session whose process ends (P15).
	OnIdleEnd      = "End"
	OnIdleRecreate = "Recreate"
	// When a call has a process to itself (P5).
	LeasingAuto   = "Auto"
	LeasingAlways = "Always"
	LeasingNever  = "Never"
	// Whether people may share a process.
	SharedRefuse = "Refuse"
	SharedAllow  = "Allow"

	// Bounds of what is said about the protocol.
	MaxRevisions = 16
	MaxRoots     = 8
	MaxRootURI   = 256
	MaxRootName  = 64

	DefaultMaxProcesses    = 16
	MaxMaxProcesses        = 1024
	DefaultIdleSeconds     = 600
	DefaultStartupSeconds  = 30
	MaxStartupSeconds      = 600
	DefaultMaxMessageBytes = 4 << 20
	MinMaxMessageBytes     = 1 << 10
	MaxMaxMessageBytes     = 64 << 20

	DefaultMCPPath = "/mcp"
	MaxMCPPath     = 256

	DefaultRequestSeconds     = 300
	MaxRequestSeconds         = 24 * 3600
	DefaultMaxBodyBytes       = 4 << 20
	MinMaxBodyBytes           = 1 << 10
	MaxMaxBodyBytes           = 64 << 20
	DefaultMaxConcurrentCalls = 256
	MaxMaxConcurrentCalls     = 10_000
	DefaultKeepAliveSeconds   = 15
	MaxKeepAliveSeconds       = 300
	MaxAllowedOrigins         = 64
	MaxOriginLength           = 256

	// MaxLiveBytes and MaxLiveRawBytes bound the live contract compressed and
	// unpacked (O14). A ConfigMap holds 1 MiB at most.
	MaxLiveBytes    = 900 << 10
	MaxLiveRawBytes = 16 << 20
)

// ContractVersions are the live contract versions that this build reads,
// newest first.
func ContractVersions() []int { return []int{LiveVersion, 1} }

// DefaultStdio is the stdio section for a user who said nothing.
func DefaultStdio() Stdio {
	return Stdio{
		ProcessModel:    ProcessPerSession,
		MaxProcesses:    DefaultMaxProcesses,
		IdleSeconds:     DefaultIdleSeconds,
		StartupSeconds:  DefaultStartupSeconds,
		MaxMessageBytes: DefaultMaxMessageBytes,
	}
}

// DefaultLimits are the limits for a user who said nothing.
func DefaultLimits() Limits {
	return Limits{
		RequestSeconds:     DefaultRequestSeconds,
		MaxBodyBytes:       DefaultMaxBodyBytes,
		MaxConcurrentCalls: DefaultMaxConcurrentCalls,
		KeepAliveSeconds:   DefaultKeepAliveSeconds,
	}
}

// DefaultLive is the live contract for a user who said nothing.
func DefaultLive() Live {
	return Live{Version: LiveVersion, Limits: DefaultLimits()}
}
