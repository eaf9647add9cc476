package v1alpha1

// Labels and annotations that the operator sets. Everything under LabelPrefix
// is reserved: a McpServer that asks for such a pod label or annotation is
// refused.
const (
	LabelPrefix = Group + "/"

	// LabelServer is on every child and pod: the name of the McpServer. It is
	// the selector of Deployment and Service.
	LabelServer = LabelPrefix + "server"
	// LabelTemplate is on every pod: the hash of the template it was made
	// from. A pod is current when it equals the Deployment's (O7).
	LabelTemplate = LabelPrefix + "template"
)

// What a user may not take because the operator adds it to every pod.
const (
	// ReservedEnvPrefix starts the names of the operator's own variables.
	ReservedEnvPrefix = "FAIRLEAD_"
	// ReservedVolumePrefix starts the names of the operator's own volumes.
	ReservedVolumePrefix = "fairlead-"
	// ReservedMountPath holds the agent, its socket and the sidecar's files.
	ReservedMountPath = "/fairlead"
)

// MaxNameLength bounds metadata.name of a McpServer, so that the names of all
// children stay valid (O23).
const MaxNameLength = 40
