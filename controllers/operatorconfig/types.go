// Package operatorconfig is the operator's configuration file: versioned,
// decoded strictly, defaulted, and validated with the path of everything that
// is wrong at once. Flags only say where it is.
//
// It holds mechanism (images, clocks, ports), never what a server should be:
// that is the kind's. It must not know how its values are used.
package operatorconfig

import corev1 "k8s.io/api/core/v1"

// APIVersion and Kind head every file.
const (
	APIVersion = "config.fairlead.dev/v1alpha1"
	Kind       = "OperatorConfig"
)

// Config is the file. After Load every field has a value; fields that are
// documented as optional may be empty.
type Config struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`

	// DataPlane is what the operator puts beside every workload.
	DataPlane DataPlane `json:"dataPlane"`
	// Operator says where the operator itself runs.
	Operator Operator `json:"operator"`
	// Watch says which servers are reconciled.
	Watch Watch `json:"watch"`
	// Controller bounds the reconciler.
	Controller Controller `json:"controller"`
	// LeaderElection lets several managers run, of which one acts.
	LeaderElection LeaderElection `json:"leaderElection"`
	// Metrics and Health are the manager's own listeners.
	Metrics Listener `json:"metrics"`
	Health  Listener `json:"health"`
}

// DataPlane names the image with mcp-sidecar and mcp-agent.
type DataPlane struct {
	// Image has no default: a release brings its own.
	Image string `json:"image"`
	// ImagePullPolicy: Always, IfNotPresent (default) or Never.
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy"`
}

// Operator says where the operator's pods are, so that NetworkPolicies let
// them read statuses.
type Operator struct {
	// Namespace is optional: empty means out of the cluster. In a pod it is
	// filled in from POD_NAMESPACE.
	Namespace string `json:"namespace"`
	// PodLabels select the manager's pods. Default: app.kubernetes.io/name
	// fairlead, app.kubernetes.io/component manager.
	PodLabels map[string]string `json:"podLabels"`
}

// Watch says which servers are reconciled.
type Watch struct {
	// Namespaces is optional: empty means all.
	Namespaces []string `json:"namespaces"`
}

// Controller bounds the reconciler.
type Controller struct {
	// Concurrency is how many servers are worked on at once. Default 4.
	Concurrency int `json:"concurrency"`
	// TimeoutSeconds bounds one reconcile. Default 60.
	TimeoutSeconds int `json:"timeoutSeconds"`
	// StatusTimeoutSeconds bounds one read of a sidecar's status. Default 2.
	StatusTimeoutSeconds int `json:"statusTimeoutSeconds"`
}

// LeaderElection clocks. A leader that hangs is replaced after LeaseSeconds;
// one that stops hands over at once.
type LeaderElection struct {
	// Enabled: default true.
	Enabled *bool `json:"enabled"`
	// Name of the Lease. Default fairlead-manager.
	Name string `json:"name"`
	// Namespace of the Lease. Default: the operator's.
	Namespace string `json:"namespace"`
	// LeaseSeconds 15, RenewSeconds 10, RetrySeconds 2 by default, each
	// greater than the next.
	LeaseSeconds int `json:"leaseSeconds"`
	RenewSeconds int `json:"renewSeconds"`
	RetrySeconds int `json:"retrySeconds"`
}

// Listener is an address to listen on.
type Listener struct {
	// BindAddress is host:port, or "0" for none. Default :8080 for metrics,
	// :8081 for health.
	BindAddress string `json:"bindAddress"`
}
