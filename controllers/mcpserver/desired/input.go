package desired

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
)

// Input is everything that the children of one server are made from.
type Input struct {
	// Server is read, never changed.
	Server *v1alpha1.McpServer
	// DataPlane is what the operator's release brings.
	DataPlane DataPlane
	// Operator is where the operator's own pods are found, for the
	// NetworkPolicy; nil when it does not run in the cluster.
	Operator *Origin
	// Keys is the data of the key Secret.
	Keys map[string][]byte
	// SingleWriter is true when a volume of the workload can be used by one
	// node only, so that old pods must go before new ones come (O25).
	SingleWriter bool
	// LeaveReplicas is true while somebody else owns the Deployment's replicas.
	LeaveReplicas bool
}

// DataPlane names the image that holds mcp-sidecar and mcp-agent.
type DataPlane struct {
	Image           string
	ImagePullPolicy corev1.PullPolicy
}

// Origin selects pods: those with the labels in the namespace.
type Origin struct {
	Namespace string
	PodLabels map[string]string
}

func (in Input) owner() ownership.Owner { return OwnerOf(in.Server) }

// OwnerOf is the server as the owner of its children.
func OwnerOf(s *v1alpha1.McpServer) ownership.Owner {
	return ownership.Owner{
		GVK:       v1alpha1.GroupVersion.WithKind("McpServer"),
		Namespace: s.Namespace,
		Name:      s.Name,
		UID:       s.UID,
	}
}

// envVar is the plain name=value variable.
func envVar(name, value string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValue(value)
}
