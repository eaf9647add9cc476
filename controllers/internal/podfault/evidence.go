package podfault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// The kubelet has no codes for these causes, only text. The two functions here
// are the only places that look into it, and nothing of it is kept. A text that
// is not recognised gives the more general reason.

// missingReference recognises the kubelet's words for a Secret, ConfigMap or
// key that env or envFrom names and that does not exist.
func missingReference(text string) bool {
	return strings.Contains(text, "not found") || strings.Contains(text, "couldn't find key")
}

// MountFailureOf classifies an event about the volumes of a pod.
func MountFailureOf(reason, text string) MountFailure {
	switch reason {
	case "FailedMount":
		if strings.Contains(text, "not found") || strings.Contains(text, "non-existent") {
			return MountSourceMissing
		}
		return MountFailed
	case "FailedAttachVolume", "FailedMapVolume":
		return MountFailed
	}
	return MountsFine
}

func mounts(e Evidence) *Fault {
	if !NeedsEvents(e.Pod) {
		return nil // it got past the volumes
	}
	switch e.Mounts {
	case MountSourceMissing:
		return VolumeNotFound(e.Spec)
	case MountFailed:
		return &Fault{Reason: v1alpha1.ReasonVolumeMountFailed,
			Message: "A volume of the pod cannot be mounted (kubectl describe pod says why)."}
	}
	return nil
}

// VolumeNotFound is the fault of a volume whose source does not exist.
func VolumeNotFound(spec *v1alpha1.McpServerSpec) *Fault {
	return &Fault{Reason: v1alpha1.ReasonVolumeNotFound, Reference: true,
		Message: "A Secret, ConfigMap or claim that a volume names, or a key in it, does not exist" + listOf(volumeReferences(spec)) + ". Create it; the pods then start by themselves."}
}

// reported words what the sidecar says of the workload.
func reported(e Evidence) *Fault {
	if e.Status == nil || e.Status.Workload.State != config.WorkloadFailed {
		return nil
	}
	w := e.Status.Workload
	if (w.Reason == config.ReasonAgentUnreachable || w.Reason == config.ReasonRefused) && starting(e) {
		return nil
	}
	switch w.Reason {
	case config.ReasonExited:
		if w.ExitCode != nil {
			return exited(int32(*w.ExitCode)) //nolint:gosec // an exit code
		}
		return &Fault{Reason: v1alpha1.ReasonWorkloadExited, Message: "The workload ended before it answered: look at its log (kubectl logs -c workload)."}
	case config.ReasonCrashLooping:
		g := &Fault{Reason: v1alpha1.ReasonWorkloadCrashLooping, Terminal: true, Message: "The workload's processes end by themselves again and again: look at their log (kubectl logs -c workload)."}
		if w.ExitCode != nil {
			g.Message = "The workload ended again and again. " + exited(int32(*w.ExitCode)).Message //nolint:gosec // an exit code
		}
		return g
	case config.ReasonNoAnswer:
		return &Fault{Reason: v1alpha1.ReasonWorkloadNoAnswer, Message: "The workload runs but did not answer the handshake in time, or answered nothing any more: is it an MCP server, does it need a longer stdio.startupSeconds?"}
	case config.ReasonBadOutput:
		return &Fault{Reason: v1alpha1.ReasonWorkloadBadOutput, Message: "What the workload wrote is not MCP: does it write its log to standard output?"}
	case config.ReasonRefused:
		return &Fault{Reason: v1alpha1.ReasonWorkloadUnreachable, Message: "Nobody listens on workload.mcp.port inside the pod."}
	case config.ReasonHTTPStatus:
		return &Fault{Reason: v1alpha1.ReasonWorkloadHTTPStatus, Message: "The workload answered the handshake with an HTTP error: look at workload.mcp.path."}
	case config.ReasonBadHandshake:
		return &Fault{Reason: v1alpha1.ReasonWorkloadBadHandshake, Message: "The workload answered the handshake, but not with a usable result."}
	case config.ReasonAgentUnreachable:
		return &Fault{Reason: v1alpha1.ReasonAgentUnreachable, Message: "The agent in the workload's container does not answer the sidecar: look at the log of both containers."}
	}
	// A newer sidecar may know more reasons.
	return &Fault{Reason: v1alpha1.ReasonWorkloadBadHandshake, Message: "The sidecar's handshake with the workload fails."}
}

// startGrace is how long a container may run before it counts that nobody
// listens in it.
const startGrace = 5 * time.Second

// starting reports whether the workload's container has not run long enough to
// be expected to listen: every pod goes through this, since the sidecar is
// there first.
func starting(e Evidence) bool {
	for s := range statuses(e.Pod) {
		if s.Name == e.Workload {
			return s.State.Running == nil || e.Now.Sub(s.State.Running.StartedAt.Time) < startGrace
		}
	}
	return true
}

// most bounds how many references a message names.
const most = 5

func listOf(refs []string) string {
	if len(refs) == 0 {
		return ""
	}
	slices.Sort(refs)
	refs = slices.Compact(refs)
	tail := ""
	if len(refs) > most {
		refs, tail = refs[:most], fmt.Sprintf(" and %d more", len(refs)-most)
	}
	return " (named there: " + strings.Join(refs, ", ") + tail + ")"
}

// envReferences are the objects without which workload or sidecar cannot start.
func envReferences(spec *v1alpha1.McpServerSpec) []string {
	var out []string
	for _, v := range slices.Concat(spec.Workload.Env, spec.Pod.Sidecar.Env) {
		from := v.ValueFrom
		if from == nil {
			continue
		}
		if r := from.SecretKeyRef; r != nil && !optional(r.Optional) {
			out = append(out, "Secret "+r.Name+" key "+r.Key)
		}
		if r := from.ConfigMapKeyRef; r != nil && !optional(r.Optional) {
			out = append(out, "ConfigMap "+r.Name+" key "+r.Key)
		}
	}
	for i := range spec.Workload.EnvFrom {
		from := &spec.Workload.EnvFrom[i]
		if r := from.SecretRef; r != nil && !optional(r.Optional) {
			out = append(out, "Secret "+r.Name)
		}
		if r := from.ConfigMapRef; r != nil && !optional(r.Optional) {
			out = append(out, "ConfigMap "+r.Name)
		}
	}
	return out
}

func volumeReferences(spec *v1alpha1.McpServerSpec) []string {
	var out []string
	secret := func(name string, o *bool) {
		if !optional(o) {
			out = append(out, "Secret "+name)
		}
	}
	configMap := func(name string, o *bool) {
		if !optional(o) {
			out = append(out, "ConfigMap "+name)
		}
	}
	for i := range spec.Workload.Volumes {
		v := &spec.Workload.Volumes[i]
		if v.Secret != nil {
			secret(v.Secret.SecretName, v.Secret.Optional)
		}
		if v.ConfigMap != nil {
			configMap(v.ConfigMap.Name, v.ConfigMap.Optional)
		}
		if v.PersistentVolumeClaim != nil {
			out = append(out, "claim "+v.PersistentVolumeClaim.ClaimName)
		}
		if v.Projected == nil {
			continue
		}
		for _, s := range v.Projected.Sources {
			if s.Secret != nil {
				secret(s.Secret.Name, s.Secret.Optional)
			}
			if s.ConfigMap != nil {
				configMap(s.ConfigMap.Name, s.ConfigMap.Optional)
			}
		}
	}
	return out
}

func optional(o *bool) bool { return o != nil && *o }

// PodReady reports whether the pod answers clients: its readiness is the
// sidecar's handshake with the workload (D8, O7). A pod that is being deleted
// is leaving and counts no more.
func PodReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
