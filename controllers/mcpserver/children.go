package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/apply"
	"github.com/fairlead-dev/fairlead/controllers/internal/events"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

const (
	// conflictRetry: foreign objects are not watched, so they are looked at.
	conflictRetry = 10 * time.Second
	// previousRetry: the garbage collector is about to finish.
	previousRetry = 2 * time.Second
	// terminatingRetry: the namespace is going, and this server with it.
	terminatingRetry = 30 * time.Second
)

// claimNames reads every child before anything is written, so that one foreign
// object keeps all others from being made (O4).
func (r *Reconciler) claimNames(ctx context.Context, s *scope) *outcome.Failure {
	meta := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, Namespace: s.server.Namespace}
	}
	n, c := s.names, &s.children
	var foreign, leaving []string
	for _, child := range []struct {
		kind string
		obj  client.Object
		into *apply.Child
		read func(context.Context, ownership.Owner, client.Object) (apply.Child, error)
	}{
		{"Deployment", &appsv1.Deployment{ObjectMeta: meta(n.Deployment)}, &c.deployment, r.applier.Look},
		{"Service", &corev1.Service{ObjectMeta: meta(n.Service)}, &c.service, r.applier.Look},
		// Secrets are never cached: that would need list and watch (O16).
		{"Secret", &corev1.Secret{ObjectMeta: meta(n.Secret)}, &c.secret, r.applier.LookLive},
		{"ConfigMap", &corev1.ConfigMap{ObjectMeta: meta(n.ConfigMap)}, &c.configMap, r.applier.Look},
		{"ServiceAccount", &corev1.ServiceAccount{ObjectMeta: meta(n.ServiceAccount)}, &c.serviceAccount, r.applier.Look},
		{"PodDisruptionBudget", &policyv1.PodDisruptionBudget{ObjectMeta: meta(n.PDB)}, &c.pdb, r.applier.Look},
		{"NetworkPolicy", &networkingv1.NetworkPolicy{ObjectMeta: meta(n.NetworkPolicy)}, &c.networkPolicy, r.applier.Look},
	} {
		found, err := child.read(ctx, s.owner, child.obj)
		if err != nil {
			return outcome.Of(err, v1alpha1.ReasonApplyFailed)
		}
		*child.into = found
		switch found.State {
		case ownership.Foreign:
			if child.kind == "NetworkPolicy" && !desired.WantsNetworkPolicy(s.server) {
				continue // not ours, and not wanted
			}
			foreign = append(foreign, child.kind+" "+child.obj.GetName())
		case ownership.Previous, ownership.Deleting:
			leaving = append(leaving, child.kind+" "+child.obj.GetName())
		}
	}
	if len(foreign) > 0 {
		return &outcome.Failure{Class: outcome.Conflict, Reason: v1alpha1.ReasonNameConflict, After: conflictRetry,
			Message: fmt.Sprintf("%s exists and was not made for this McpServer, so it was left alone and nothing was written: delete it or choose another name.", strings.Join(foreign, ", "))}
	}
	if len(leaving) > 0 {
		return &outcome.Failure{Class: outcome.Waiting, Reason: v1alpha1.ReasonWaitingForPrevious, After: previousRetry,
			Message: fmt.Sprintf("Waiting until %s of before is gone.", strings.Join(leaving, ", "))}
	}
	return nil
}

// apply writes one child and says what came of it.
func (r *Reconciler) apply(ctx context.Context, s *scope, child apply.Child, kind, name string, want runtime.ApplyConfiguration) (apply.Result, *outcome.Failure) {
	res, err := r.applier.Apply(ctx, s.owner, child, want)
	if err != nil {
		return res, applyFailure(kind, err)
	}
	if res.Created || res.Updated {
		log.FromContext(ctx).Info("Wrote a child", "child", kind, "childName", name, "created", res.Created, "fields", firstFew(res.Fields))
	}
	return res, nil
}

// applyChild is apply for the children whose changes need no words of their
// own, except when something was put back.
func (r *Reconciler) applyChild(ctx context.Context, s *scope, child apply.Child, kind, name string, want runtime.ApplyConfiguration) *outcome.Failure {
	res, f := r.apply(ctx, s, child, kind, name, want)
	switch {
	case f != nil:
	case res.Taken:
		s.tell(events.Corrected(kind, name))
	case res.Created && s.children.deployment.State == ownership.Ours:
		s.tell(events.Restored(kind, name))
	}
	return f
}

// applyFailure classes what the API server said about a child.
func applyFailure(kind string, err error) *outcome.Failure {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return &outcome.Failure{Class: outcome.Waiting, Reason: v1alpha1.ReasonApplyFailed, After: terminatingRetry, Cause: err,
			Message: "The namespace is being deleted."}
	case apierrors.IsConflict(err):
		// It was replaced or taken between our look and our write: look again.
		return &outcome.Failure{Class: outcome.Waiting, Reason: v1alpha1.ReasonApplyFailed, After: time.Second, Cause: err,
			Message: fmt.Sprintf("%s changed while it was being written.", kind)}
	}
	return outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "%s could not be written. %s", kind, outcome.Describe(err))
}

func firstFew(fields []string) []string {
	const few = 5
	if len(fields) > few {
		return append(fields[:few:few], "…")
	}
	return fields
}
