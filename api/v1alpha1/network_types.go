package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NetworkPolicyMode says who writes the NetworkPolicy of the pods.
//
// +kubebuilder:validation:Enum=Managed;Unmanaged
type NetworkPolicyMode string

// The modes.
const (
	// NetworkPolicyManaged: the operator writes one.
	NetworkPolicyManaged NetworkPolicyMode = "Managed"
	// NetworkPolicyUnmanaged: the operator writes none and removes its own.
	NetworkPolicyUnmanaged NetworkPolicyMode = "Unmanaged"
)

// EgressMode says whereto pods may connect.
//
// +kubebuilder:validation:Enum=Unrestricted;Restricted
type EgressMode string

// The modes.
const (
	// EgressUnrestricted: everywhere.
	EgressUnrestricted EgressMode = "Unrestricted"
	// EgressRestricted: to DNS only.
	EgressRestricted EgressMode = "Restricted"
)

// Network says who may connect to the pods and whereto they may (O13). Only a
// network plugin that enforces NetworkPolicy makes it so.
//
// +kubebuilder:validation:XValidation:rule="!has(self.policy) || self.policy != 'Unmanaged' || (!has(self.ingressFrom) && !has(self.monitoringFrom) && !has(self.egress))",message="ingressFrom, monitoringFrom and egress are carried out by the operator's NetworkPolicy, which policy: Unmanaged turns off; remove them or set policy: Managed"
type Network struct {
	// policy says who writes the NetworkPolicy of the pods. Managed: the
	// operator, which closes the workload's own port. Unmanaged: you. Default
	// Managed.
	// +optional
	Policy NetworkPolicyMode `json:"policy,omitempty"`

	// ingressFrom are the clients: who may connect to the public port. Empty:
	// every pod of the cluster.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	IngressFrom []NetworkPeer `json:"ingressFrom,omitempty"`

	// monitoringFrom may connect to the metrics port, beside the operator.
	// Empty: nobody else.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	MonitoringFrom []NetworkPeer `json:"monitoringFrom,omitempty"`

	// egress says whereto the pods may connect. Unrestricted: everywhere.
	// Restricted: DNS only. Default Unrestricted.
	// +optional
	Egress EgressMode `json:"egress,omitempty"`

	// allowedOrigins are the web pages that may call from a browser: exact
	// origins as a browser sends them, such as https://chat.example.com. A
	// request from another page is refused. A change takes effect within
	// seconds, without a restart. Empty: none but those on localhost.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	AllowedOrigins []Origin `json:"allowedOrigins,omitempty"`
}

// Origin is a web origin in the spelling of browsers: lower case, no path.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=256
// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z][a-z0-9+.-]*://([a-z0-9_-]+([.][a-z0-9_-]+)*|\\\\[[0-9a-f:.]+\\\\])(:[0-9]{1,5})?$')",message="an origin must be scheme://host or scheme://host:port in lower case, such as https://chat.example.com, without path, user or wildcard; list each origin"
type Origin string

// NetworkPeer selects pods or addresses, like a peer of a NetworkPolicy.
//
// +kubebuilder:validation:XValidation:rule="has(self.ipBlock) != (has(self.namespaceSelector) || has(self.podSelector))",message="a peer must set either ipBlock, or namespaceSelector and podSelector or one of them"
type NetworkPeer struct {
	// namespaceSelector selects namespaces by label; {} selects all. Absent:
	// the McpServer's own.
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// podSelector selects pods in them by label. Absent: all.
	// +optional
	PodSelector *metav1.LabelSelector `json:"podSelector,omitempty"`

	// ipBlock selects addresses outside the cluster.
	// +optional
	IPBlock *IPBlock `json:"ipBlock,omitzero"`
}

// IPBlock is a range of addresses.
type IPBlock struct {
	// cidr is the range, such as 192.0.2.0/24.
	// +required
	CIDR CIDR `json:"cidr,omitempty"`

	// except are ranges inside cidr that are not selected.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Except []CIDR `json:"except,omitempty"`
}

// CIDR is a range of addresses, such as 192.0.2.0/24 or 2001:db8::/32.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="isCIDR(self)",message="must be a range of addresses such as 192.0.2.0/24 or 2001:db8::/32"
type CIDR string
