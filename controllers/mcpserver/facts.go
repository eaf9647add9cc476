package mcpserver

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// rollout is where the Deployment stands.
type rollout string

const (
	// rolloutProgressing: pods are being replaced or made, within the deadline.
	rolloutProgressing rollout = "Progressing"
	// rolloutComplete: all pods were of the current template and ready once.
	rolloutComplete rollout = "Complete"
	// rolloutFailed: the progress deadline has passed.
	rolloutFailed rollout = "Failed"
)

// facts is all that the conditions are made from.
type facts struct {
	// failure of the phases that write, nil when everything is written.
	failure *outcome.Failure
	desired int32
	rollout rollout
	// readyOld and readyNew are the ready pods of other templates and of the
	// current one.
	readyOld, readyNew int
	// missing pods are wanted, not ready, and neither explained by being young.
	missing int
	// fault is why pods of the current template are not ready; faultOld the
	// same for others.
	fault, faultOld *podfault.Fault
	claimFault      *podfault.Fault

	// Of the ready pods: which do not report the current live contract.
	lagging, rejected, silent, unread int
	// wasProgrammed: the status of this spec says so already. A new pod that
	// was not asked yet is no reason to doubt it: it mounts what is there.
	wasProgrammed bool
	exposed       bool
	// autoscaled: an autoscaler is aimed at the Deployment.
	autoscaled bool
}

// young is how long a pod may start before it counts as missing.
const young = time.Minute

// sticky is how long a fault outlives its evidence (O18).
const sticky = 30 * time.Second

func (r *Reconciler) factsOf(s *scope, failure *outcome.Failure) facts {
	f := facts{
		failure: failure, desired: desired.Replicas(s.server),
		rollout: rolloutOf(s), claimFault: s.claimFault(), autoscaled: s.autoscaled,
	}
	if c := conditions.Find(s.server.Status.Conditions, v1alpha1.ConditionProgrammed); c != nil {
		f.wasProgrammed = c.Status == metav1.ConditionTrue && c.ObservedGeneration == s.server.Generation
	}
	now := r.clock.Now()
	var faults, faultsOld []*podfault.Fault
	crashes, notReady, starting := 0, 0, 0
	for _, v := range s.pods {
		switch {
		case v.ready && v.current:
			f.readyNew++
		case v.ready:
			f.readyOld++
		case v.current:
			notReady++
			crashes += podfault.Crashes(v.pod, desired.ContainerWorkload)
			faults = append(faults, v.fault)
		default:
			faultsOld = append(faultsOld, v.fault)
		}
		if v.ready {
			f.countContract(v, s.live.digests)
		} else if v.fault == nil && now.Sub(v.pod.CreationTimestamp.Time) < young {
			starting++
		}
	}
	if d := s.deployment(); d != nil && podsForbidden(d) {
		notReady++
		faults = append(faults, podfault.PodsForbidden(&s.server.Spec))
	} else {
		// What the Deployment has yet to create is starting too.
		starting += max(0, int(f.desired)-len(s.pods))
	}
	f.missing = max(0, int(f.desired)-f.readyNew-f.readyOld-starting)
	found := podfault.CrashLooping(podfault.Worst(faults), crashes)
	f.fault = r.stick(s, found, notReady > 0, now)
	f.faultOld = podfault.Worst(faultsOld)
	return f
}

// countContract sorts a ready pod by what it says of its live contract.
func (f *facts) countContract(v podView, digests desired.Digests) {
	st := v.answer.Status
	f.exposed = f.exposed || st != nil && st.Workload.Exposed
	switch {
	case len(digests) == 0: // nothing to compare with
	case v.answer.Silent:
		f.silent++
	case st == nil:
		f.unread++
	case digests.Follows(st):
	case st.LiveError != "":
		f.rejected++
	default:
		f.lagging++
	}
}

// rolloutOf reads the Deployment's own verdict, as far as it is about the
// template that we want now.
func rolloutOf(s *scope) rollout {
	d := s.deployment()
	if d == nil || s.applied || d.Status.ObservedGeneration < d.Generation ||
		d.Spec.Template.Labels[v1alpha1.LabelTemplate] != s.template.Hash {
		return rolloutProgressing
	}
	for _, c := range d.Status.Conditions {
		if c.Type != appsv1.DeploymentProgressing {
			continue
		}
		switch {
		case c.Status == corev1.ConditionFalse && c.Reason == "ProgressDeadlineExceeded":
			return rolloutFailed
		case c.Reason == "NewReplicaSetAvailable":
			return rolloutComplete
		}
	}
	return rolloutProgressing
}

// podsForbidden: the ReplicaSet could not create pods. Its cause is in its
// events only; the Deployment repeats that it happened.
func podsForbidden(d *appsv1.Deployment) bool {
	for _, c := range d.Status.Conditions {
		if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue && c.Reason == "FailedCreate" {
			return true
		}
	}
	return false
}

// stick keeps the last fault of the same template for a while after its
// evidence went, unless the pods became ready, so that a reason does not flap
// while the fault lasts (O18). A fault that explains more is kept against one
// that explains less.
func (r *Reconciler) stick(s *scope, found *podfault.Fault, notReady bool, now time.Time) *podfault.Fault {
	m := s.memory
	if m.faultOf != s.template.Hash {
		m.fault, m.faultOf = recallFault(s), s.template.Hash
		m.faultSeen = now
	}
	if !notReady {
		m.fault = nil
		return nil
	}
	fresh := m.fault != nil && now.Sub(m.faultSeen) < sticky
	switch {
	case found == nil && !fresh:
		m.fault = nil
	case found == nil, fresh && found.Reason != m.fault.Reason && podfault.Worst([]*podfault.Fault{m.fault, found}) == m.fault:
		if left := sticky - now.Sub(m.faultSeen); left > 0 {
			s.within(left)
		}
	default:
		m.fault, m.faultSeen = found, now
	}
	return m.fault
}

// recallFault is what the status of the same spec says, for an operator that
// has just started.
func recallFault(s *scope) *podfault.Fault {
	if s.memory.faultOf != "" {
		return nil // the template has changed; its fault is history
	}
	for _, typ := range []string{v1alpha1.ConditionReady, v1alpha1.ConditionAvailable} {
		c := conditions.Find(s.server.Status.Conditions, typ)
		if c != nil && c.Status == metav1.ConditionFalse && c.ObservedGeneration == s.server.Generation && podfault.Known(c.Reason) {
			return &podfault.Fault{Reason: c.Reason, Message: c.Message, Terminal: typ == v1alpha1.ConditionReady,
				Reference: c.Reason == v1alpha1.ReasonReferenceNotFound || c.Reason == v1alpha1.ReasonVolumeNotFound}
		}
	}
	return nil
}
