package mcpserver

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
	"github.com/fairlead-dev/fairlead/controllers/internal/podstatus"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
)

const (
	// watchAgain is how often pods that are not ready are looked at beside
	// their own events: /status and the kubelet's events are not watched.
	watchAgain = 5 * time.Second
	// awaited is the same for ready pods that are about to report the live
	// contract: they must have it within five seconds (O15).
	awaited = 1500 * time.Millisecond
	// mountGrace is how long a pod may take to mount before its events are read.
	mountGrace = 2 * time.Second
	// mostEventReads bounds the event lists of one reconcile: pods of one
	// template fail for one cause.
	mostEventReads = 3
	// mostEvents bounds one such list.
	mostEvents = 50
)

// podView is one pod as it was seen.
type podView struct {
	pod     *corev1.Pod
	current bool // made from the template as it should be
	ready   bool
	answer  podstatus.Answer
	fault   *podfault.Fault // nil when ready or nothing is known to be wrong
}

// observePods reads the pods of the server and, for those that need it, their
// sidecars' status and their events.
func (r *Reconciler) observePods(ctx context.Context, s *scope) *outcome.Failure {
	list := &corev1.PodList{}
	if err := r.client.List(ctx, list, client.InNamespace(s.server.Namespace), client.MatchingLabels(desired.Selector(s.server))); err != nil {
		return outcome.Transientf(v1alpha1.ReasonApplyFailed, err, "The pods could not be read. %s", outcome.Describe(err))
	}
	for i := range list.Items {
		pod := &list.Items[i]
		if !ofDeployment(pod, s.names.Deployment) || pod.DeletionTimestamp != nil || finished(pod) {
			continue
		}
		s.pods = append(s.pods, podView{
			pod:     pod,
			current: s.template.Hash != "" && pod.Labels[v1alpha1.LabelTemplate] == s.template.Hash,
			ready:   podfault.PodReady(pod),
		})
	}
	slices.SortFunc(s.pods, func(a, b podView) int { return strings.Compare(a.pod.Name, b.pod.Name) })
	r.readStatuses(ctx, s)
	r.findFaults(ctx, s)
	return nil
}

// ofDeployment tells the Deployment's pods from others that carry our label: a
// ReplicaSet's name is the Deployment's and the hash that its pods carry.
func ofDeployment(pod *corev1.Pod, deployment string) bool {
	c := metav1.GetControllerOf(pod)
	return c != nil && c.Kind == "ReplicaSet" &&
		c.Name == deployment+"-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
}

func finished(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// readStatuses asks the sidecars, oftener while a change is expected of them.
func (r *Reconciler) readStatuses(ctx context.Context, s *scope) {
	var targets []podstatus.Target
	for _, v := range s.pods {
		if v.pod.Status.Phase != corev1.PodRunning || v.pod.Status.PodIP == "" {
			continue
		}
		targets = append(targets, podstatus.Target{
			UID: v.pod.UID, IP: v.pod.Status.PodIP,
			// A pod turns ready after its last answer: that one is about before.
			Urgent: !v.ready || !r.statuses.Current(s.server.UID, v.pod.UID, s.live.digests.Follows),
		})
	}
	answers := r.statuses.Read(ctx, s.server.UID, targets)
	for i := range s.pods {
		v := &s.pods[i]
		v.answer = answers[v.pod.UID]
		switch current := r.statuses.Current(s.server.UID, v.pod.UID, s.live.digests.Follows); {
		case v.ready && !current && !v.answer.Silent:
			s.within(awaited)
		case !v.ready || !current:
			s.within(watchAgain)
		}
	}
}

// findFaults says why pods are not ready.
func (r *Reconciler) findFaults(ctx context.Context, s *scope) {
	reads := 0
	for i := range s.pods {
		v := &s.pods[i]
		if v.ready {
			continue
		}
		e := podfault.Evidence{
			Pod: v.pod, Spec: &s.server.Spec, Status: v.answer.Status,
			Now: r.clock.Now(), Workload: desired.ContainerWorkload,
		}
		if reads < mostEventReads && podfault.NeedsEvents(v.pod) && r.clock.Since(v.pod.CreationTimestamp.Time) > mountGrace {
			reads++
			e.Mounts = r.mountFailure(ctx, v.pod)
		}
		v.fault = podfault.Of(e)
		if v.fault != nil && v.fault.Reason == v1alpha1.ReasonUnschedulable && s.claims.missing {
			v.fault = s.claimFault()
		}
	}
}

// mountFailure reads the events of a pod that cannot start. Not finding any is
// no failure of the reconcile: they only explain.
func (r *Reconciler) mountFailure(ctx context.Context, pod *corev1.Pod) podfault.MountFailure {
	list := &corev1.EventList{}
	err := r.live.List(ctx, list, client.InNamespace(pod.Namespace), client.Limit(mostEvents),
		client.MatchingFieldsSelector{Selector: fields.OneTermEqualSelector("involvedObject.uid", string(pod.UID))})
	if err != nil {
		log.FromContext(ctx).V(1).Info("The events of a pod could not be read", "error", err.Error())
		return podfault.MountsFine
	}
	worst := podfault.MountsFine
	for _, e := range list.Items {
		worst = max(worst, podfault.MountFailureOf(e.Reason, e.Message))
	}
	return worst
}
