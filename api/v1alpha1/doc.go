// Package v1alpha1 holds the kinds of mcp.fairlead.dev/v1alpha1: their types,
// the rules that one object alone can decide (schema and CEL, no webhook), and
// the condition types and reasons as documented constants.
//
// It must not know a client, a controller or the sidecar: it imports
// apimachinery and k8s.io/api/core/v1 only, so that anybody can import it.
//
// An absent optional field means that the controller decides; the documented
// default is what it decides today. The only schema default is replicas, which
// the scale subresource needs (O5).
//
// +kubebuilder:object:generate=true
// +kubebuilder:ac:generate=true
// +kubebuilder:ac:output:package="../../controllers/applyconfiguration"
// +groupName=mcp.fairlead.dev
package v1alpha1
