package mcpserver

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
)

// verdict makes all conditions from facts (O7). It is the only place that
// does, and pure.
func verdict(f facts) []conditions.Condition {
	out := []conditions.Condition{
		accepted(f), resolvedRefs(f), programmed(f), available(f), ready(f),
	}
	if c, ok := degraded(f); ok {
		out = append(out, c)
	}
	if f.exposed {
		out = append(out, is(v1alpha1.ConditionWorkloadExposed, metav1.ConditionTrue, v1alpha1.ReasonListensOnAllInterfaces,
			"The workload listens on all interfaces: only an enforcing NetworkPolicy keeps clients from bypassing the sidecar. Let it listen on 127.0.0.1."))
	}
	return out
}

func is(typ string, status metav1.ConditionStatus, reason, message string) conditions.Condition {
	return conditions.Condition{Type: typ, Status: status, Reason: reason, Message: message}
}

// refused is true when the spec cannot be carried out, as far as we know.
func (f facts) refused() bool {
	if f.failure == nil {
		return false
	}
	switch f.failure.Reason {
	case v1alpha1.ReasonNameConflict, v1alpha1.ReasonInvalidPodTemplate:
		return true
	}
	return false
}

func (f facts) waitsForPrevious() bool {
	return f.failure != nil && f.failure.Reason == v1alpha1.ReasonWaitingForPrevious
}

func accepted(f facts) conditions.Condition {
	const typ = v1alpha1.ConditionAccepted
	switch {
	case f.refused():
		return is(typ, metav1.ConditionFalse, f.failure.Reason, f.failure.Message)
	case f.waitsForPrevious():
		return is(typ, metav1.ConditionUnknown, f.failure.Reason, f.failure.Message)
	}
	return is(typ, metav1.ConditionTrue, v1alpha1.ReasonAccepted, "The spec can be carried out.")
}

func resolvedRefs(f facts) conditions.Condition {
	const typ = v1alpha1.ConditionResolvedRefs
	for _, fault := range []*podfault.Fault{f.fault, f.faultOld, f.claimFault} {
		if fault != nil && fault.Reference {
			return is(typ, metav1.ConditionFalse, fault.Reason, fault.Message)
		}
	}
	return is(typ, metav1.ConditionTrue, v1alpha1.ReasonResolvedRefs, "Nothing that the spec names is known to be missing.")
}

func programmed(f facts) conditions.Condition {
	const typ = v1alpha1.ConditionProgrammed
	switch {
	case f.waitsForPrevious():
		return is(typ, metav1.ConditionUnknown, v1alpha1.ReasonPending, "Nothing is written yet.")
	case f.failure != nil:
		return is(typ, metav1.ConditionFalse, f.failure.Reason, f.failure.Message)
	case f.rejected > 0:
		return is(typ, metav1.ConditionFalse, v1alpha1.ReasonLiveContractRejected, rejectedMessage(f))
	case f.lagging > 0:
		return is(typ, metav1.ConditionFalse, v1alpha1.ReasonLiveContractLagging, laggingMessage(f))
	case f.silent > 0:
		return is(typ, metav1.ConditionUnknown, v1alpha1.ReasonStatusUnreachable, silentMessage(f))
	case f.unread > 0 && !f.wasProgrammed:
		return is(typ, metav1.ConditionUnknown, v1alpha1.ReasonPending, "Not all ready pods have said yet which live contract they use.")
	}
	return is(typ, metav1.ConditionTrue, v1alpha1.ReasonProgrammed, "Every child is written and all ready pods use the current live contract.")
}

func laggingMessage(f facts) string {
	return fmt.Sprintf("%d of the ready pods use an older live contract; they were told and will be told again.", f.lagging)
}

func rejectedMessage(f facts) string {
	return fmt.Sprintf("%d of the ready pods cannot load the current live contract and keep the last good one: is their sidecar of another release than the operator?", f.rejected)
}

func silentMessage(f facts) string {
	return fmt.Sprintf("The status of %d of the ready pods cannot be read, so it is not known which live contract they use: let the operator reach port 17081 of the pods. Serving is not affected.", f.silent)
}

func available(f facts) conditions.Condition {
	const typ = v1alpha1.ConditionAvailable
	fault := f.fault
	if fault == nil {
		fault = f.faultOld
	}
	switch {
	case f.desired == 0:
		return is(typ, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero, "spec.replicas is 0: scale up to serve.")
	case f.readyNew+f.readyOld > 0:
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonAvailable, "At least one pod answers clients.")
	case f.refused() || f.waitsForPrevious():
		return is(typ, metav1.ConditionFalse, f.failure.Reason, f.failure.Message)
	case fault != nil:
		return is(typ, metav1.ConditionFalse, fault.Reason, fault.Message)
	}
	return is(typ, metav1.ConditionFalse, v1alpha1.ReasonStarting, "No pod answers clients yet; none is known to have failed.")
}

// ready: a healthy rollout is not False, a failed one is, and what is final is
// so at once (O7).
func ready(f facts) conditions.Condition {
	const typ = v1alpha1.ConditionReady
	switch {
	case f.desired == 0:
		return is(typ, metav1.ConditionFalse, v1alpha1.ReasonScaledToZero, "spec.replicas is 0: scale up to serve.")
	case f.refused():
		return is(typ, metav1.ConditionFalse, f.failure.Reason, f.failure.Message)
	case f.waitsForPrevious():
		return is(typ, metav1.ConditionUnknown, f.failure.Reason, f.failure.Message)
	case f.readyNew > 0:
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonReady, "At least one pod of the current spec answers clients.")
	case f.fault != nil && (f.fault.Terminal || f.rollout != rolloutProgressing):
		return is(typ, metav1.ConditionFalse, f.fault.Reason, f.fault.Message)
	case f.rollout == rolloutFailed:
		return is(typ, metav1.ConditionFalse, v1alpha1.ReasonProgressDeadlineExceeded, "No pod of the current spec became ready within ten minutes, and no better reason is known: look at the pods (kubectl describe pod).")
	case f.rollout == rolloutComplete:
		return is(typ, metav1.ConditionFalse, v1alpha1.ReasonStarting, "No pod answers clients at the moment, although the last rollout was complete; none is known to have failed.")
	case f.fault != nil:
		return is(typ, metav1.ConditionUnknown, v1alpha1.ReasonRollingOut, "Pods of the current spec are starting. So far: "+f.fault.Message)
	}
	return is(typ, metav1.ConditionUnknown, v1alpha1.ReasonRollingOut, "Pods of the current spec are starting.")
}

// degraded: it works, but not as it should.
func degraded(f facts) (conditions.Condition, bool) {
	const typ = v1alpha1.ConditionDegraded
	answering := f.readyNew + f.readyOld
	switch {
	case f.autoscaled:
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonConflictingAutoscaler,
			"An autoscaler writes the replicas of the Deployment, which is made from this object, so the operator leaves them alone. Aim it at this McpServer (its scaleTargetRef), which has a scale subresource."), true
	case f.desired == 0 || answering == 0:
	case f.rejected > 0:
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonLiveContractRejected, rejectedMessage(f)), true
	case f.missing > 0 && f.rollout != rolloutProgressing:
		message := "Fewer pods answer clients than are wanted."
		if f.fault != nil {
			message += " " + f.fault.Message
		}
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonReplicasNotReady, message), true
	case f.lagging > 0:
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonLiveContractLagging, laggingMessage(f)), true
	case f.silent > 0:
		return is(typ, metav1.ConditionTrue, v1alpha1.ReasonStatusUnreachable, silentMessage(f)), true
	}
	return conditions.Condition{}, false
}
