package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// McpServer runs an MCP server as a fleet of pods behind one URL. Each pod
// holds the workload and a sidecar that speaks MCP to clients of any protocol
// revision and forwards to the workload over stdio or HTTP on loopback.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=mcpservers,singular=mcpserver,scope=Namespaced,shortName=mcpsrv,categories=mcp
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`,description="At least one pod answers clients now (condition Available)"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why condition Ready is as it is"
// +kubebuilder:printcolumn:name="Replicas",type=integer,JSONPath=`.status.readyReplicas`,description="Pods that answer clients now"
// +kubebuilder:printcolumn:name="Desired",type=integer,JSONPath=`.spec.replicas`,priority=1,description="Pods asked for"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.spec.workload.type`,description="How the sidecar talks to the workload"
// +kubebuilder:printcolumn:name="URL",type=string,JSONPath=`.status.address.url`,description="Where clients connect"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Image",type=string,JSONPath=`.spec.workload.image`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]{0,38}[a-z0-9])?$')",message="metadata.name must have at most 40 characters, only a-z, 0-9 and '-', start with a letter and end with a letter or digit: names of Services and labels are made from it; choose such a name"
type McpServer struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard object metadata. The name has at most 40
	// characters and is a DNS label that starts with a letter.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is what you want.
	// +required
	Spec McpServerSpec `json:"spec,omitzero"`

	// status is what was observed.
	// +optional
	Status McpServerStatus `json:"status,omitzero"`
}

// McpServerList is a list of McpServers.
//
// +kubebuilder:object:root=true
type McpServerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []McpServer `json:"items"`
}

// McpServerSpec is the desired state of a McpServer.
type McpServerSpec struct {
	// workload is the MCP server that you bring: its image, how it is started
	// and how the sidecar talks to it. A change rolls the pods.
	// +required
	Workload Workload `json:"workload,omitzero"`

	// replicas is the number of pods. It is the only such number: kubectl
	// scale, a HorizontalPodAutoscaler or KEDA write it through the scale
	// subresource; leave it out of Git when one of them owns it. 0 stops the
	// server. Default 1.
	// +optional
	// +default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`

	// limits bound what clients may ask of one pod. A change takes effect
	// within seconds, without a restart.
	// +optional
	Limits Limits `json:"limits,omitzero"`

	// protocol says which revisions and transports of the protocol clients may
	// use.
	// +optional
	Protocol Protocol `json:"protocol,omitzero"`

	// rollout says how pods are replaced.
	// +optional
	Rollout Rollout `json:"rollout,omitzero"`

	// network says who may connect to the pods and whereto they may.
	// +optional
	Network Network `json:"network,omitzero"`

	// pod is merged into the pods: placement, identity, metadata and the
	// sidecar's resources. A change rolls the pods.
	// +optional
	Pod Pod `json:"pod,omitzero"`
}

// Limits apply to each pod and are enforced by its sidecar.
type Limits struct {
	// requestSeconds bounds one client request, from its arrival to the last
	// byte of the answer. Default 300.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	RequestSeconds *int32 `json:"requestSeconds,omitempty"`

	// maxBodyBytes bounds the body of one client request; larger ones are
	// refused with 413. Default 4194304 (4 MiB).
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=67108864
	MaxBodyBytes *int64 `json:"maxBodyBytes,omitempty"`

	// maxConcurrentCalls bounds the client requests that are worked on at the
	// same time. Default 256.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	MaxConcurrentCalls *int32 `json:"maxConcurrentCalls,omitempty"`

	// keepAliveSeconds is the time between keep-alive comments on event
	// streams, which keep proxies from closing them. Default 15.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=300
	KeepAliveSeconds *int32 `json:"keepAliveSeconds,omitempty"`
}

// Rollout says how pods are replaced.
type Rollout struct {
	// drainSeconds is how long a pod that must go may finish the requests it
	// has accepted. New ones go to other pods meanwhile. Sessions do not
	// outlive it. The pod's termination grace period is computed from it; a
	// node that shuts down or a cluster autoscaler may allow less. Default 30.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	DrainSeconds *int32 `json:"drainSeconds,omitempty"`
}
