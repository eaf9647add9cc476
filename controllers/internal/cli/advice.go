package cli

import (
	"slices"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// advice is what a person can do about a reason.
type advice struct {
	Reason string `json:"reason"`
	Do     string `json:"do"`
}

// remedies has a sentence for every reason that asks something of a person.
// Reasons that only ask for patience say so.
func remedies() map[string]string {
	return map[string]string{
		v1alpha1.ReasonPending:            "wait a moment; if it stays, look whether the operator runs: kubectl -n fairlead-system get pods",
		v1alpha1.ReasonStarting:           "wait; pods are starting and none has failed",
		v1alpha1.ReasonRollingOut:         "wait; the old pods serve until new ones answer",
		v1alpha1.ReasonScaledToZero:       "kubectl scale mcpserver NAME --replicas=1, if it should serve",
		v1alpha1.ReasonWaitingForPrevious: "wait until the objects of the deleted McpServer of this name are gone",

		v1alpha1.ReasonNameConflict:       "delete the object that the message names if nobody needs it, or choose another name for the McpServer",
		v1alpha1.ReasonInvalidPodTemplate: "correct the field that the message names",
		v1alpha1.ReasonApplyFailed:        "look at the operator's log and its rights: kubectl -n fairlead-system logs deploy/fairlead-manager",

		v1alpha1.ReasonUnschedulable:            "compare resources, nodeSelector, affinity and tolerations with the nodes: kubectl describe pod says what was missing",
		v1alpha1.ReasonPodsForbidden:            "read the events of the ReplicaSet: admission, a quota or a missing ServiceAccount refused the pods",
		v1alpha1.ReasonReferenceNotFound:        "create the Secret or ConfigMap, or the key, that env or envFrom names; pods start by themselves",
		v1alpha1.ReasonVolumeNotFound:           "create the Secret, ConfigMap or claim that a volume names; pods start by themselves",
		v1alpha1.ReasonVolumeMountFailed:        "read the pod's events: the volume exists but cannot be mounted",
		v1alpha1.ReasonImagePullFailed:          "check the image reference and pod.imagePullSecrets",
		v1alpha1.ReasonInvalidImageName:         "correct workload.image: it is not a legal reference",
		v1alpha1.ReasonImageRunsAsRoot:          "remove securityContext.runAsUser or set another user than 0",
		v1alpha1.ReasonContainerConfigInvalid:   "read the pod's events: the kubelet cannot make the container as the spec wants it",
		v1alpha1.ReasonContainerStartFailed:     "check workload.command: it must name a program of the image by its path",
		v1alpha1.ReasonProgressDeadlineExceeded: "no new pod became ready in ten minutes: compare the pods above with the last change, or undo it",

		v1alpha1.ReasonWorkloadExited:         "read the lines on standard error above: the command ended by itself",
		v1alpha1.ReasonWorkloadCrashLooping:   "read the lines on standard error above, or kubectl logs --previous: the command keeps ending",
		v1alpha1.ReasonWorkloadOutOfMemory:    "raise workload.resources.limits.memory, or lower stdio.maxProcesses",
		v1alpha1.ReasonWorkloadNoAnswer:       "check that the command is an MCP server on standard input and output; if it only starts slowly, raise stdio.startupSeconds",
		v1alpha1.ReasonWorkloadBadOutput:      "make the command log to standard error: standard output belongs to the protocol",
		v1alpha1.ReasonWorkloadUnreachable:    "check mcp.port: nobody listens there on 127.0.0.1",
		v1alpha1.ReasonWorkloadHTTPStatus:     "check mcp.path: the workload answers there with an HTTP error",
		v1alpha1.ReasonWorkloadBadHandshake:   "check that the workload is an MCP server of a revision from 2024-11-05 on: it answered, but not as one",
		v1alpha1.ReasonAgentUnreachable:       "read the log of the workload's container: the agent in it does not answer",
		v1alpha1.ReasonSidecarFailed:          "read the log of container mcp-sidecar",
		v1alpha1.ReasonReplicasNotReady:       "look at the pods above that are not ready",
		v1alpha1.ReasonConflictingAutoscaler:  "let the autoscaler's scaleTargetRef name the McpServer instead of the Deployment",
		v1alpha1.ReasonStatusUnreachable:      "let the operator's namespace reach port 17081 of the pods; serving is not affected",
		v1alpha1.ReasonLiveContractLagging:    "wait; the pods are told again every few seconds",
		v1alpha1.ReasonLiveContractRejected:   "check that operator and sidecar images are of one release; the last good settings are in force",
		v1alpha1.ReasonListensOnAllInterfaces: "let the workload listen on 127.0.0.1, or rely on an enforcing NetworkPolicy",
	}
}

// advise picks the remedies for what was found, in the order of the
// conditions, each once.
func advise(f *finding) (out []advice) {
	known := remedies()
	advisory := v1alpha1.AdvisoryConditions()
	for _, c := range f.Result {
		// Advisory conditions are bad when True, the others when they are not.
		if (c.Status == "True") != slices.Contains(advisory, c.Type) {
			continue
		}
		do, ok := known[c.Reason]
		if !ok || slices.ContainsFunc(out, func(a advice) bool { return a.Reason == c.Reason }) {
			continue
		}
		out = append(out, advice{c.Reason, do})
	}
	return out
}
