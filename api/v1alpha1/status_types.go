package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// McpServerStatus is what was observed. It holds no kubelet or workload text,
// no names of pods and no timestamps besides those of the conditions.
type McpServerStatus struct {
	// conditions tell the state. Accepted, ResolvedRefs, Programmed, Available
	// and Ready are always there once the server was looked at; others only
	// while they are True. Available is what clients feel; Ready also says
	// that the current spec is what runs.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the metadata.generation that this status is about.
	// +optional
	// +kubebuilder:validation:Minimum=1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// replicas is the number of pods that exist, for the scale subresource.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`

	// readyReplicas is the number of pods that answer clients now, of any
	// template. Ready means that the sidecar shook hands with the workload.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ReadyReplicas *int32 `json:"readyReplicas,omitempty"`

	// updatedReadyReplicas is the number of those made from the current
	// template.
	// +optional
	// +kubebuilder:validation:Minimum=0
	UpdatedReadyReplicas *int32 `json:"updatedReadyReplicas,omitempty"`

	// selector selects the pods, for the scale subresource.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	Selector string `json:"selector,omitempty"`

	// address is where clients connect.
	// +optional
	Address *Address `json:"address,omitzero"`

	// server is what the workload says of itself, from the last handshake.
	// +optional
	Server *ServerInfo `json:"server,omitempty"`
}

// Address is where clients connect.
type Address struct {
	// url is the MCP endpoint inside the cluster.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	URL string `json:"url,omitempty"`
}

// ServerInfo is what the workload says of itself; shortened when too long.
type ServerInfo struct {
	// name is the workload's own name.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name,omitempty"`

	// version is the workload's own version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Version string `json:"version,omitempty"`

	// protocolVersion is the MCP revision that the workload answered with.
	// Clients may use any other: the sidecar translates.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	ProtocolVersion string `json:"protocolVersion,omitempty"`
}
