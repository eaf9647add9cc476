package mcpserver

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

const (
	// AnnotationLive is what a touch changes: the digest that the pod should
	// have, and the number of the attempt from the second on. A change of any
	// annotation makes the kubelet refresh the pod's mounts at once (O15).
	AnnotationLive = v1alpha1.LabelPrefix + "live"

	touchParallel = 20
	touchAgain    = 10 * time.Second
)

// touch tells the running pods whose sidecar reports another live contract to
// look at their mounts: all at once, again every ten seconds, and never a pod
// that has not reported, which mounts the new one anyway (O15).
func (r *Reconciler) touch(ctx context.Context, s *scope) *outcome.Failure {
	if !s.live.written {
		return nil // the pods could find nothing new
	}
	now := r.clock.Now()
	var g errgroup.Group
	g.SetLimit(touchParallel)
	alive := map[types.UID]time.Time{}
	for _, v := range s.pods {
		if t, ok := s.memory.touched[v.pod.UID]; ok {
			alive[v.pod.UID] = t
		}
		if !needsTouch(v, s.live.digests) || now.Sub(alive[v.pod.UID]) < touchAgain {
			continue
		}
		alive[v.pod.UID] = now
		s.within(awaited)
		g.Go(func() error { return r.touchPod(ctx, v.pod, s.live.digests.Newest()) })
	}
	s.memory.touched = alive
	if err := g.Wait(); err != nil {
		return outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "A pod could not be told of its new live contract. %s", outcome.Describe(err))
	}
	return nil
}

// needsTouch: a sidecar that has seen this contract and refused it is told of
// it once only.
func needsTouch(v podView, digests desired.Digests) bool {
	st := v.answer.Status
	if st == nil || digests.Follows(st) {
		return false
	}
	told := strings.HasPrefix(v.pod.Annotations[AnnotationLive], digests.Newest())
	return st.LiveError == "" || !told
}

func (r *Reconciler) touchPod(ctx context.Context, pod *corev1.Pod, digest string) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid":         pod.UID, // not the pod that took its name
		"annotations": map[string]string{AnnotationLive: nextTouch(pod.Annotations[AnnotationLive], digest)},
	}})
	if err != nil {
		return err
	}
	target := &corev1.Pod{}
	target.SetNamespace(pod.Namespace)
	target.SetName(pod.Name)
	err = r.client.Patch(ctx, target, client.RawPatch(types.MergePatchType, patch), client.FieldOwner(FieldOwner))
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it left meanwhile
	}
	return err
}

// nextTouch differs from the last value: an equal one would be no change, and
// the kubelet would not hear of it.
func nextTouch(last, digest string) string {
	rest, same := strings.CutPrefix(last, digest)
	if !same {
		return digest
	}
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "."))
	if err != nil {
		n = 1
	}
	return digest + "." + strconv.Itoa(n+1)
}
