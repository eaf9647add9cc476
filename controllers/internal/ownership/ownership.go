// Package ownership says whose a child object is, and what a child says about
// its owner (O4). It knows metadata only: no clients and no kinds.
package ownership

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// State says whose an object is and so what may be done with it.
type State string

const (
	// Absent: there is no such object; the first apply, which never forces,
	// creates it.
	Absent State = "Absent"
	// Ours: its controller is exactly our owner, UID included. Only such an
	// object is ever forced or deleted.
	Ours State = "Ours"
	// Deleting: ours, but on its way out. Wait, then make it anew.
	Deleting State = "Deleting"
	// Previous: its controller is an earlier object of our owner's kind and
	// name, which the garbage collector is about to remove. Wait.
	Previous State = "Previous"
	// Foreign: anything else. Never touched.
	Foreign State = "Foreign"
)

// Owner is the controlling object of children.
type Owner struct {
	GVK       schema.GroupVersionKind
	Namespace string
	Name      string
	UID       types.UID
}

// Reference is the owner reference that every child carries. It holds a
// foreground deletion of the owner until the child is gone.
func (o Owner) Reference() *metav1ac.OwnerReferenceApplyConfiguration {
	return metav1ac.OwnerReference().
		WithAPIVersion(o.GVK.GroupVersion().String()).
		WithKind(o.GVK.Kind).
		WithName(o.Name).
		WithUID(o.UID).
		WithController(true).
		WithBlockOwnerDeletion(true)
}

// StateOf classifies an object that exists.
func (o Owner) StateOf(obj metav1.Object) State {
	c := metav1.GetControllerOf(obj)
	switch {
	case c == nil:
		return Foreign
	case c.UID == o.UID:
		if obj.GetDeletionTimestamp() != nil {
			return Deleting
		}
		return Ours
	}
	gv, err := schema.ParseGroupVersion(c.APIVersion)
	if err == nil && gv.Group == o.GVK.Group && c.Kind == o.GVK.Kind && c.Name == o.Name {
		return Previous
	}
	return Foreign
}
