package v1alpha1

import corev1 "k8s.io/api/core/v1"

// Pod is the part of a pod template that can be changed without breaking what
// the operator promises (O21): no containers, hooks, grace period, host
// namespaces or restart policy.
type Pod struct {
	// labels are added to the pods. The operator's own win; keys that begin
	// with mcp.fairlead.dev/ are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('mcp.fairlead.dev/'))",message="labels that begin with mcp.fairlead.dev/ are reserved for the operator; choose another key"
	Labels map[string]string `json:"labels,omitempty"`

	// annotations are added to the pods. The operator's own win; keys that
	// begin with mcp.fairlead.dev/ are reserved.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('container.apparmor.security.beta.kubernetes.io/'))",message="annotations must not set an AppArmor profile, which could take pods out of Pod Security restricted; use workload.securityContext.appArmorProfile"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('mcp.fairlead.dev/'))",message="annotations that begin with mcp.fairlead.dev/ are reserved for the operator; choose another key"
	Annotations map[string]string `json:"annotations,omitempty"`

	// nodeSelector are the labels a node must have.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`

	// tolerations let the pods run on nodes with matching taints.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// affinity attracts the pods to nodes or other pods, or keeps them apart.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// topologySpreadConstraints spread the pods over zones or nodes. Select
	// them by the label mcp.fairlead.dev/server.
	// +optional
	// +listType=map
	// +listMapKey=topologyKey
	// +listMapKey=whenUnsatisfiable
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// priorityClassName names the PriorityClass of the pods.
	// +optional
	PriorityClassName ObjectName `json:"priorityClassName,omitempty"`

	// runtimeClassName names the RuntimeClass that runs the pods, for example
	// one that isolates them more.
	// +optional
	RuntimeClassName ObjectName `json:"runtimeClassName,omitempty"`

	// dnsConfig changes name resolution in the pods.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`

	// hostAliases are entries of /etc/hosts in the pods.
	// +optional
	// +listType=map
	// +listMapKey=ip
	// +kubebuilder:validation:MaxItems=32
	HostAliases []corev1.HostAlias `json:"hostAliases,omitempty"`

	// imagePullSecrets name Secrets with which the images are pulled.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=16
	ImagePullSecrets []corev1.LocalObjectReference `json:"imagePullSecrets,omitempty"`

	// serviceAccountName names an existing ServiceAccount for the pods. Its
	// token is never mounted. Absent: one without rights of the server's own.
	// +optional
	ServiceAccountName ObjectName `json:"serviceAccountName,omitempty"`

	// sidecar changes the sidecar's container.
	// +optional
	Sidecar Sidecar `json:"sidecar,omitzero"`
}

// Sidecar changes the sidecar's container.
type Sidecar struct {
	// resources replace the sidecar's default requests and limits.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims) || self.claims.size() == 0",message="resources.claims is not supported: a McpServer cannot declare resource claims; remove it"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// env are environment variables of the sidecar. Names that begin with
	// FAIRLEAD_ are reserved.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule="self.all(e, !e.name.startsWith('FAIRLEAD_'))",message="names of environment variables that begin with FAIRLEAD_ are reserved for the operator; rename the variable"
	Env []corev1.EnvVar `json:"env,omitempty"`
}

// ObjectName is the name of an object of the same namespace or the cluster.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
type ObjectName string
