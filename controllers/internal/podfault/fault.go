package podfault

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// Fault is why a pod is not ready.
type Fault struct {
	// Reason is one of the condition reasons.
	Reason string
	// Message is our own sentence.
	Message string
	// Terminal faults make Ready False at once (O7).
	Terminal bool
	// Reference is true when something that the spec names does not exist.
	Reference bool
}

// MountFailure is what the events of a pod say about its volumes.
type MountFailure int

// The mount failures, the worse the higher.
const (
	MountsFine MountFailure = iota
	// MountFailed: a volume cannot be mounted.
	MountFailed
	// MountSourceMissing: a Secret, ConfigMap or claim does not exist.
	MountSourceMissing
)

// Evidence is what is known about one pod.
type Evidence struct {
	Pod  *corev1.Pod
	Spec *v1alpha1.McpServerSpec
	// Mounts comes from the pod's events; read them only while NeedsEvents.
	Mounts MountFailure
	// Status is the sidecar's own, nil when it was not read.
	Status *config.Status
	// Now is for telling a fresh crash from an old one.
	Now time.Time
	// Workload is the name of the user's container; all others are ours.
	Workload string
}

// recent is how long a crash explains a pod that runs but is not ready.
const recent = 10 * time.Minute

// crashesForLoop is the third end of the workload (O7).
const crashesForLoop = 3

// Of returns the fault of a pod that is not ready, nil when nothing is known to
// be wrong: it is starting.
func Of(e Evidence) *Fault {
	if f := unschedulable(e); f != nil {
		return f
	}
	for _, f := range []func(Evidence) *Fault{waiting, ended, mounts, reported} {
		if found := f(e); found != nil {
			return found
		}
	}
	return nil
}

// NeedsEvents reports whether only the events of the pod can tell what keeps it
// from starting: it has a node, and no container has been created (O18).
func NeedsEvents(pod *corev1.Pod) bool {
	if pod.Status.Phase != corev1.PodPending || pod.Spec.NodeName == "" {
		return false
	}
	for s := range statuses(pod) {
		if s.State.Waiting == nil || s.RestartCount > 0 ||
			s.State.Waiting.Reason != "" && s.State.Waiting.Reason != "PodInitializing" && s.State.Waiting.Reason != "ContainerCreating" {
			return false
		}
	}
	return true
}

// order ranks reasons: the first explains the most.
var order = []string{
	v1alpha1.ReasonPodsForbidden,
	v1alpha1.ReasonImageRunsAsRoot,
	v1alpha1.ReasonInvalidImageName,
	v1alpha1.ReasonImagePullFailed,
	v1alpha1.ReasonReferenceNotFound,
	v1alpha1.ReasonVolumeNotFound,
	v1alpha1.ReasonContainerConfigInvalid,
	v1alpha1.ReasonContainerStartFailed,
	v1alpha1.ReasonVolumeMountFailed,
	v1alpha1.ReasonWorkloadCrashLooping,
	v1alpha1.ReasonWorkloadOutOfMemory,
	v1alpha1.ReasonSidecarFailed,
	v1alpha1.ReasonWorkloadExited,
	v1alpha1.ReasonWorkloadBadOutput,
	v1alpha1.ReasonWorkloadHTTPStatus,
	v1alpha1.ReasonWorkloadBadHandshake,
	v1alpha1.ReasonWorkloadUnreachable,
	v1alpha1.ReasonWorkloadNoAnswer,
	v1alpha1.ReasonAgentUnreachable,
	v1alpha1.ReasonUnschedulable,
}

// Worst picks one of several faults, the same whatever their order; nil when
// there are none. A terminal fault comes before one that is not.
func Worst(faults []*Fault) *Fault {
	faults = slices.DeleteFunc(slices.Clone(faults), func(f *Fault) bool { return f == nil })
	if len(faults) == 0 {
		return nil
	}
	return slices.MinFunc(faults, func(a, b *Fault) int {
		return cmp.Or(
			cmp.Compare(boolRank(a.Terminal), boolRank(b.Terminal)),
			cmp.Compare(rank(a.Reason), rank(b.Reason)),
			cmp.Compare(a.Message, b.Message),
		)
	})
}

// Known reports whether reason is one that this package gives.
func Known(reason string) bool { return slices.Contains(order, reason) }

func rank(reason string) int {
	if i := slices.Index(order, reason); i >= 0 {
		return i
	}
	return len(order)
}

func boolRank(first bool) int {
	if first {
		return 0
	}
	return 1
}
