package v1alpha1

// Condition types of a McpServer. Each condition carries the generation it is
// about. All but the advisory ones are always present; an advisory one is
// there only while it is True. The operator's leader sets them all, in one
// patch a reconcile.
const (
	// ConditionAccepted: the spec can be carried out. False is final until the
	// spec, or the object that is in the way, changes.
	//
	// True: ReasonAccepted.
	// False: ReasonNameConflict, ReasonInvalidPodTemplate.
	// Unknown: ReasonWaitingForPrevious.
	ConditionAccepted = "Accepted"

	// ConditionResolvedRefs: the Secrets, ConfigMaps and claims that the spec
	// names exist, as far as the kubelet has said: the operator itself reads only
	// the claims (O16). Returns to True by itself when they appear.
	//
	// True: ReasonResolvedRefs.
	// False: ReasonReferenceNotFound, ReasonVolumeNotFound.
	ConditionResolvedRefs = "ResolvedRefs"

	// ConditionProgrammed: every child object is as the spec wants it, and all
	// ready pods report the current live contract (O15).
	//
	// True: ReasonProgrammed.
	// False: ReasonApplyFailed, ReasonLiveContractLagging,
	// ReasonLiveContractRejected, or the reason of Accepted.
	// Unknown: ReasonPending, ReasonStatusUnreachable.
	ConditionProgrammed = "Programmed"

	// ConditionAvailable: at least one pod, of any template, answers clients
	// now. This is what clients feel, what the READY column shows and what
	// alerts should use (O7).
	//
	// True: ReasonAvailable.
	// False: ReasonScaledToZero, ReasonStarting, why the pods are not ready, or
	// the reason of Accepted.
	ConditionAvailable = "Available"

	// ConditionReady: Available, and at least one pod of the current template
	// answers. Unknown while a rollout makes progress; False only for what is
	// final or has lasted past the progress deadline (O7).
	//
	// True: ReasonReady.
	// Unknown: ReasonRollingOut, ReasonWaitingForPrevious.
	// False: ReasonScaledToZero, ReasonProgressDeadlineExceeded, a terminal
	// reason of a pod, or the reason of Accepted; outside of a rollout also
	// ReasonStarting or any reason of a pod.
	ConditionReady = "Ready"

	// ConditionDegraded: it works, but not as it should. Advisory.
	//
	// True: ReasonConflictingAutoscaler, ReasonReplicasNotReady, ReasonStatusUnreachable,
	// ReasonLiveContractLagging, ReasonLiveContractRejected.
	ConditionDegraded = "Degraded"

	// ConditionWorkloadExposed: the workload listens on the pod's address, so
	// only an enforcing NetworkPolicy keeps clients from bypassing the sidecar
	// (O10). Advisory.
	//
	// True: ReasonListensOnAllInterfaces.
	ConditionWorkloadExposed = "WorkloadExposed"
)

// RequiredConditions are the condition types that are always present, in the
// order in which they build on each other.
func RequiredConditions() []string {
	return []string{
		ConditionAccepted, ConditionResolvedRefs, ConditionProgrammed, ConditionAvailable, ConditionReady,
	}
}

// AdvisoryConditions are the condition types that are present only while True.
func AdvisoryConditions() []string {
	return []string{ConditionDegraded, ConditionWorkloadExposed}
}
