package mcpserver

import (
	"context"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/fairlead-dev/fairlead/controllers/internal/events"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

// liveContract is the rendered ConfigMap and the digests that sidecars report
// once they run with it.
type liveContract struct {
	configMap *corev1ac.ConfigMapApplyConfiguration
	digests   desired.Digests
	// written: the ConfigMap holds it.
	written bool
}

// render builds what needs nothing but the spec. What cannot be built never
// will be, until the spec changes.
func (r *Reconciler) render(_ context.Context, s *scope) *outcome.Failure {
	var err error
	if s.live.configMap, s.live.digests, err = desired.LiveConfigMap(s.in); err != nil {
		return invalid("The limits and policies of this spec make no valid live contract: "+err.Error()+".", err)
	}
	if s.template, err = desired.MakeTemplate(s.in); err != nil {
		return invalid("No pods can be made from this spec: "+err.Error()+".", err)
	}
	return nil
}

// contract writes the live contract and the ServiceAccount, without which no
// pod could start.
func (r *Reconciler) contract(ctx context.Context, s *scope) *outcome.Failure {
	if f := r.applyChild(ctx, s, s.children.configMap, "ConfigMap", s.names.ConfigMap, s.live.configMap); f != nil {
		return f
	}
	s.live.written = true
	return r.applyChild(ctx, s, s.children.serviceAccount, "ServiceAccount", s.names.ServiceAccount, desired.ServiceAccount(s.in))
}

// network writes what is around the pods. The policy comes before the pods, so
// none of them is ever open.
func (r *Reconciler) network(ctx context.Context, s *scope) *outcome.Failure {
	if f := r.networkPolicy(ctx, s); f != nil {
		return f
	}
	if f := r.applyChild(ctx, s, s.children.service, "Service", s.names.Service, desired.Service(s.in)); f != nil {
		return f
	}
	s.children.serviceWritten = true
	return r.applyChild(ctx, s, s.children.pdb, "PodDisruptionBudget", s.names.PDB, desired.PodDisruptionBudget(s.in))
}

func (r *Reconciler) networkPolicy(ctx context.Context, s *scope) *outcome.Failure {
	child := s.children.networkPolicy
	if desired.WantsNetworkPolicy(s.server) {
		want, err := desired.NetworkPolicy(s.in)
		if err != nil {
			return invalid("spec.network makes no valid NetworkPolicy.", err)
		}
		return r.applyChild(ctx, s, child, "NetworkPolicy", s.names.NetworkPolicy, want)
	}
	if child.State != ownership.Ours {
		return nil
	}
	deleted, err := r.applier.Delete(ctx, child)
	if err != nil {
		return applyFailure("NetworkPolicy", err)
	}
	if deleted {
		s.tell(events.Removed("NetworkPolicy", s.names.NetworkPolicy))
	}
	return nil
}
