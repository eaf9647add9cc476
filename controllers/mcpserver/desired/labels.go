package desired

import (
	"maps"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// ManagedBy is the value of app.kubernetes.io/managed-by on every child.
const ManagedBy = "fairlead"

// Selector selects the pods of s. It is immutable in a Deployment, so it holds
// the server's name only.
func Selector(s *v1alpha1.McpServer) map[string]string {
	return map[string]string{v1alpha1.LabelServer: s.Name}
}

// Labels are on every child and pod of s.
func Labels(s *v1alpha1.McpServer) map[string]string {
	return map[string]string{
		v1alpha1.LabelServer:           s.Name,
		"app.kubernetes.io/name":       "mcp-server",
		"app.kubernetes.io/instance":   s.Name,
		"app.kubernetes.io/managed-by": ManagedBy,
	}
}

// podLabels are the user's with ours over them.
func podLabels(s *v1alpha1.McpServer, hash string) map[string]string {
	out := maps.Clone(s.Spec.Pod.Labels)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, Labels(s))
	out[v1alpha1.LabelTemplate] = hash
	return out
}
