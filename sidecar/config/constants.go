package config

// Container ports (O10). A workload port inside PortsFrom..PortsTo is refused.
const (
	PortPublic  = 17080
	PortAdmin   = 17081
	PortPeers   = 17082
	PortMetrics = 17090
	PortsFrom   = 17080
	PortsTo     = 17099
)

// Names shared by the pod template and the binaries in it.
const (
	BootEnv      = "FAIRLEAD_BOOT"
	MaxBootBytes = 8 << 10
	// EnvPodUID and EnvPodName come from the downward API.
	EnvPodUID  = "FAIRLEAD_POD_UID"
	EnvPodName = "FAIRLEAD_POD_NAME"
	EnvPodIP   = "FAIRLEAD_POD_IP"

	BinDir      = "/fairlead/bin"        // emptyDir, read-only in the workload
	AgentPath   = BinDir + "/mcp-agent"  // installed by the init container
	RunDir      = "/fairlead/run"        // emptyDir shared by workload and sidecar
	AgentSocket = RunDir + "/agent.sock" // the agent listens (P11)
	HookSocket  = RunDir + "/hook.sock"  // the sidecar listens (O3)
	LiveDir     = "/fairlead/live"       // ConfigMap mount, a directory
	KeysDir     = "/fairlead/keys"       // Secret mount, sidecar only

	// SidecarUID and WorkloadUID are forced (O9).
	SidecarUID  = 65532
	WorkloadUID = 10001
)

// Admin paths. Nothing on the admin port changes state.
const (
	PathLivez   = "/livez"
	PathReadyz  = "/readyz"
	PathStartup = "/startup"
	PathStatus  = "/status"
)

// The key Secret (D9, O8): one entry per key id holding KeyBytes random bytes,
// and SealWith, which holds the id of the key that new handles are sealed
// with. A key id is 1 to MaxKeyID characters of a-z and 0-9.
const (
	SealWith = "sealWith"
	KeyBytes = 32
	MaxKeyID = 8
)
