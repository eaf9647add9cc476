package mcpserver

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
)

// readClaims looks at the claims that volumes name: their access modes decide
// how pods may be replaced (O25). They are read uncached, only for servers that
// have any. Secrets and ConfigMaps of the user are never read (O16).
func (r *Reconciler) readClaims(ctx context.Context, s *scope) *outcome.Failure {
	for i := range s.server.Spec.Workload.Volumes {
		source := s.server.Spec.Workload.Volumes[i].PersistentVolumeClaim
		if source == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := r.live.Get(ctx, client.ObjectKey{Namespace: s.server.Namespace, Name: source.ClaimName}, claim)
		switch {
		case apierrors.IsNotFound(err):
			s.claims.missing = true
		case err != nil:
			return outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "A claim that a volume names could not be read. %s", outcome.Describe(err))
		case s.claims.single == "" && singleNode(claim.Spec.AccessModes):
			s.claims.single = source.ClaimName
		}
	}
	s.in.SingleWriter = s.claims.single != ""
	return nil
}

// singleNode is true for a volume that cannot be in two places at once.
func singleNode(modes []corev1.PersistentVolumeAccessMode) bool {
	return !slices.Contains(modes, corev1.ReadWriteMany) && !slices.Contains(modes, corev1.ReadOnlyMany)
}
