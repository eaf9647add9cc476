package podfault

import (
	"fmt"
	"iter"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// statuses yields the container statuses in start order.
func statuses(pod *corev1.Pod) iter.Seq[*corev1.ContainerStatus] {
	return func(yield func(*corev1.ContainerStatus) bool) {
		for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

func unschedulable(e Evidence) *Fault {
	for _, c := range e.Pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return &Fault{
				Reason:  v1alpha1.ReasonUnschedulable,
				Message: "No node takes a pod: look at resources, nodeSelector, affinity, tolerations, claims and at the nodes (kubectl describe pod).",
			}
		}
	}
	return nil
}

// waiting explains a container that is kept from running. CrashLoopBackOff is
// not a cause, but the wait after one: see ended.
func waiting(e Evidence) *Fault {
	for s := range statuses(e.Pod) {
		if s.State.Waiting == nil {
			continue
		}
		whose := e.whose(s)
		switch s.State.Waiting.Reason {
		case "ErrImagePull", "ImagePullBackOff", "ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed":
			return &Fault{Reason: v1alpha1.ReasonImagePullFailed, Terminal: true,
				Message: fmt.Sprintf("%s cannot be pulled: check the reference, that the registry has it, and pod.imagePullSecrets.", whose.image)}
		case "ErrImageNeverPull":
			return &Fault{Reason: v1alpha1.ReasonImagePullFailed, Terminal: true,
				Message: fmt.Sprintf("%s is not on the node and imagePullPolicy is Never.", whose.image)}
		case "InvalidImageName":
			return &Fault{Reason: v1alpha1.ReasonInvalidImageName, Terminal: true,
				Message: fmt.Sprintf("%s is not a legal reference.", whose.image)}
		case "CreateContainerConfigError":
			return configFault(e, s.State.Waiting.Message)
		case "CreateContainerError", "RunContainerError", "PostStartHookError":
			return startFault(whose)
		}
	}
	return nil
}

// configFault tells the causes of CreateContainerConfigError apart.
func configFault(e Evidence, text string) *Fault {
	switch {
	case e.runsAsRoot():
		return RunsAsRoot()
	case missingReference(text):
		return &Fault{Reason: v1alpha1.ReasonReferenceNotFound, Terminal: true, Reference: true,
			Message: "A Secret or ConfigMap that env or envFrom names, or a key in it, does not exist" + listOf(envReferences(e.Spec)) + ". Create it; the pods then start by themselves."}
	}
	return &Fault{Reason: v1alpha1.ReasonContainerConfigInvalid, Terminal: true,
		Message: "The kubelet cannot make a container of this spec (kubectl describe pod says why)."}
}

// RunsAsRoot is the fault of a spec that asks for uid 0 (O9).
func RunsAsRoot() *Fault {
	return &Fault{Reason: v1alpha1.ReasonImageRunsAsRoot, Terminal: true,
		Message: "workload.securityContext.runAsUser is 0, but pods never run as root: remove it, or set the user that the image needs."}
}

// PodsForbidden is the fault of pods that cannot even be created.
func PodsForbidden(spec *v1alpha1.McpServerSpec) *Fault {
	if (Evidence{Spec: spec}).runsAsRoot() {
		return RunsAsRoot()
	}
	return &Fault{Reason: v1alpha1.ReasonPodsForbidden, Terminal: true,
		Message: "The cluster refuses to create the pods: a quota, an admission rule or a missing ServiceAccount stands in the way (kubectl describe replicaset says which)."}
}

func (e Evidence) runsAsRoot() bool {
	sc := e.Spec.Workload.SecurityContext
	return sc != nil && sc.RunAsUser != nil && *sc.RunAsUser == 0
}

// ended explains a container that ended: now, or so recently that it still is
// why the pod is not ready.
func ended(e Evidence) *Fault {
	for s := range statuses(e.Pod) {
		last := s.State.Terminated
		if last == nil {
			last = s.LastTerminationState.Terminated
			if last == nil || s.State.Running != nil && (s.Ready || e.Now.Sub(last.FinishedAt.Time) > recent) {
				continue
			}
		}
		whose := e.whose(s)
		switch {
		case last.Reason == "StartError" || last.Reason == "ContainerCannotRun":
			return startFault(whose)
		case whose.ours && last.ExitCode == 0 && s.State.Terminated != nil:
			continue // the installer is done
		case whose.ours:
			return &Fault{Reason: v1alpha1.ReasonSidecarFailed,
				Message: fmt.Sprintf("Container %s ended with exit code %d: look at its log.", s.Name, last.ExitCode)}
		case last.Reason == "OOMKilled":
			return &Fault{Reason: v1alpha1.ReasonWorkloadOutOfMemory,
				Message: "The workload was killed at its memory limit: raise workload.resources.limits.memory, or allow fewer processes."}
		}
		return exited(last.ExitCode)
	}
	return nil
}

func exited(code int32) *Fault {
	return &Fault{Reason: v1alpha1.ReasonWorkloadExited,
		Message: fmt.Sprintf("The workload ended with exit code %d: look at its log (kubectl logs -c workload, with --previous after a restart).", code)}
}

func startFault(w whose) *Fault {
	return &Fault{Reason: v1alpha1.ReasonContainerStartFailed, Terminal: true,
		Message: fmt.Sprintf("The runtime cannot start %s: does command name a program of the image, and can its user run it?", w.container)}
}

// Crashes counts how often the workload's container of the pod has ended.
func Crashes(pod *corev1.Pod, workload string) int {
	for _, s := range pod.Status.ContainerStatuses {
		if s.Name != workload {
			continue
		}
		n := int(s.RestartCount)
		// While it waits for its next start, the count is of starts so far.
		if s.State.Running == nil && (s.State.Terminated != nil || s.LastTerminationState.Terminated != nil) {
			n++
		}
		return n
	}
	return 0
}

// CrashLooping turns the fault of a workload that ended into a terminal one
// when it has ended three times with the current template (O7).
func CrashLooping(f *Fault, crashes int) *Fault {
	if f == nil || crashes < crashesForLoop {
		return f
	}
	switch f.Reason {
	case v1alpha1.ReasonWorkloadOutOfMemory:
		g := *f
		g.Terminal = true
		return &g
	case v1alpha1.ReasonWorkloadExited:
		return &Fault{Reason: v1alpha1.ReasonWorkloadCrashLooping, Terminal: true,
			Message: "The workload ended again and again. " + f.Message}
	}
	return f
}

// whose names a container and its image for people.
type whose struct {
	ours             bool
	container, image string
}

func (e Evidence) whose(s *corev1.ContainerStatus) whose {
	if s.Name != e.Workload {
		return whose{ours: true, container: "container " + s.Name, image: "The operator's own image (container " + s.Name + ")"}
	}
	return whose{container: "the workload", image: "The workload's image"}
}
