package mcpserver

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

const (
	// reclaimAfter is how often replicas that an autoscaler holds are tried to
	// be taken back: it may be gone, and leaves no other sign of that.
	reclaimAfter = 10 * time.Minute
	// reclaimWatch is how long an autoscaler has to take them again before it
	// counts as gone.
	reclaimWatch = time.Minute
)

// autoscalerManager is the field manager of a HorizontalPodAutoscaler's writes
// (KEDA makes one too): they come from kube-controller-manager, through the
// scale subresource.
const (
	autoscalerManager     = "kube-controller-manager"
	autoscalerSubresource = "scale"
)

// leaveReplicas decides whether the Deployment's replicas are left to an
// autoscaler that is aimed at it (O5). Both writing them would start and stop
// pods for ever. So we stop, say where to aim, and try once in ten minutes.
//
// It only ever leaves what is not ours any more: leaving out a field that we
// own would set it to its default, 1.
func (r *Reconciler) leaveReplicas(s *scope, d *appsv1.Deployment) bool {
	m, now := s.memory, r.clock.Now()
	if d == nil || !heldByAutoscaler(d) {
		s.autoscaled = !m.reclaimed.IsZero() && now.Sub(m.reclaimed) < reclaimWatch
		if s.autoscaled {
			s.within(reclaimWatch - now.Sub(m.reclaimed))
		} else {
			m.reclaimed = time.Time{}
		}
		return false
	}
	s.autoscaled = true
	if m.reclaimed.IsZero() {
		m.reclaimed = now // as if tried: a restarted operator does not begin with a fight
	}
	if now.Sub(m.reclaimed) >= reclaimAfter {
		m.reclaimed = now
		return false
	}
	s.within(reclaimAfter - now.Sub(m.reclaimed))
	return true
}

// heldByAutoscaler: the last to change the replicas was an autoscaler, and we
// do not own them beside it.
func heldByAutoscaler(d *appsv1.Deployment) bool {
	held := false
	for _, e := range d.ManagedFields {
		if e.FieldsV1 == nil || !ownsReplicas(e) {
			continue
		}
		if e.Manager == FieldOwner && e.Operation == metav1.ManagedFieldsOperationApply && e.Subresource == "" {
			return false
		}
		held = held || e.Manager == autoscalerManager && e.Subresource == autoscalerSubresource
	}
	return held
}

func ownsReplicas(e metav1.ManagedFieldsEntry) bool {
	set := fieldpath.NewSet()
	return set.FromJSON(e.FieldsV1.GetRawReader()) == nil && set.Has(fieldpath.MakePathOrDie("spec", "replicas"))
}
