package v1alpha1

// Reasons of conditions that are as they should be, or on their way.
const (
	// ReasonAccepted (Accepted True): nothing in the way.
	ReasonAccepted = "Accepted"
	// ReasonResolvedRefs (ResolvedRefs True): nothing is known to be missing.
	ReasonResolvedRefs = "ResolvedRefs"
	// ReasonProgrammed (Programmed True): all children applied, all ready pods
	// report the current live contract.
	ReasonProgrammed = "Programmed"
	// ReasonAvailable (Available True): a pod answers.
	ReasonAvailable = "Available"
	// ReasonReady (Ready True): a pod of the current template answers.
	ReasonReady = "Ready"
	// ReasonPending (Programmed Unknown): not looked at yet. Wait.
	ReasonPending = "Pending"
	// ReasonStarting (Available False; Ready False outside of a rollout): pods
	// are starting, none has failed. Wait.
	ReasonStarting = "Starting"
	// ReasonRollingOut (Ready Unknown): pods of the current template are
	// starting; those of the old one serve. Wait.
	ReasonRollingOut = "RollingOut"
	// ReasonScaledToZero (Available, Ready False): no replicas are asked for. Scale up
	// to serve.
	ReasonScaledToZero = "ScaledToZero"
	// ReasonWaitingForPrevious (Accepted Unknown): children of a deleted
	// McpServer of the same name are still being collected (O4). Wait.
	ReasonWaitingForPrevious = "WaitingForPrevious"
)

// Reasons that come from the API server when the operator writes children.
const (
	// ReasonNameConflict (Accepted, Programmed, Ready False): an object with
	// the name of a child exists and is not ours; it was left alone (O4).
	// Rename the McpServer, or delete that object.
	ReasonNameConflict = "NameConflict"
	// ReasonInvalidPodTemplate (Accepted, Ready False): the API server refused
	// the Deployment made from this spec; the message names the field. Correct
	// it.
	ReasonInvalidPodTemplate = "InvalidPodTemplate"
	// ReasonApplyFailed (Programmed False): a child could not be written; it is
	// tried again. Look at the operator's rights and log.
	ReasonApplyFailed = "ApplyFailed"
)

// Reasons that come from the pods (O18), by the operator from pod status and
// events, in its own words. All may be reasons of Available and Ready False.
// Those marked terminal make Ready False at once, the others only with the
// progress deadline.
const (
	// ReasonUnschedulable: no node takes a pod. Look at resources, nodeSelector,
	// affinity, tolerations and claims.
	ReasonUnschedulable = "Unschedulable"
	// ReasonPodsForbidden (terminal): pods are refused when they are created: by
	// admission, a quota, or for a missing ServiceAccount. The events of the
	// ReplicaSet name the cause.
	ReasonPodsForbidden = "PodsForbidden"
	// ReasonReferenceNotFound (terminal; also ResolvedRefs): a Secret or
	// ConfigMap that env or envFrom names, or a key in it, does not exist.
	// Create it; pods start by themselves.
	ReasonReferenceNotFound = "ReferenceNotFound"
	// ReasonVolumeNotFound (also ResolvedRefs): a Secret, ConfigMap or claim
	// that a volume names does not exist. Create it; pods start by themselves.
	ReasonVolumeNotFound = "VolumeNotFound"
	// ReasonVolumeMountFailed: a volume exists but cannot be mounted. The pod's
	// events name the cause.
	ReasonVolumeMountFailed = "VolumeMountFailed"
	// ReasonImagePullFailed (terminal): an image cannot be pulled. Look at the
	// reference and imagePullSecrets.
	ReasonImagePullFailed = "ImagePullFailed"
	// ReasonInvalidImageName (terminal): the image is not a legal reference.
	// Correct it.
	ReasonInvalidImageName = "InvalidImageName"
	// ReasonImageRunsAsRoot (terminal): the spec asks for runAsUser: 0, which
	// pods may not be (O9). Remove it or set another user.
	ReasonImageRunsAsRoot = "ImageRunsAsRoot"
	// ReasonContainerConfigInvalid (terminal): the kubelet cannot make a
	// container of this spec, for another cause than a missing reference.
	ReasonContainerConfigInvalid = "ContainerConfigInvalid"
	// ReasonContainerStartFailed (terminal): the runtime cannot start the
	// container, for example because command names no program of the image.
	ReasonContainerStartFailed = "ContainerStartFailed"
	// ReasonProgressDeadlineExceeded (Ready False): no pod of the current
	// template became ready within ten minutes and no better reason is known.
	ReasonProgressDeadlineExceeded = "ProgressDeadlineExceeded"
)

// Reasons that the sidecar reports about the workload. The operator words them
// and adds exit codes; what the workload wrote is in kubectl mcp check and
// kubectl logs only (O18).
const (
	// ReasonWorkloadExited: the command or container ended, before it answered
	// or after. The message has the exit code.
	ReasonWorkloadExited = "WorkloadExited"
	// ReasonWorkloadCrashLooping (terminal): it has ended three times or more
	// with the current template, its container or the processes in it.
	ReasonWorkloadCrashLooping = "WorkloadCrashLooping"
	// ReasonWorkloadOutOfMemory: it was killed at its memory limit. Raise
	// resources.limits.memory, or lower stdio.maxProcesses.
	ReasonWorkloadOutOfMemory = "WorkloadOutOfMemory"
	// ReasonWorkloadNoAnswer: it runs but did not answer the handshake in time, or
	// answered nothing any more. Is it an MCP server? Does it need a longer
	// stdio.startupSeconds?
	ReasonWorkloadNoAnswer = "WorkloadNoAnswer"
	// ReasonWorkloadBadOutput: what it answered is not the protocol, for example
	// log lines on standard output.
	ReasonWorkloadBadOutput = "WorkloadBadOutput"
	// ReasonWorkloadUnreachable: nobody listens on mcp.port.
	ReasonWorkloadUnreachable = "WorkloadUnreachable"
	// ReasonWorkloadHTTPStatus: it answered the handshake with an HTTP error.
	// Look at mcp.path.
	ReasonWorkloadHTTPStatus = "WorkloadHTTPStatus"
	// ReasonWorkloadBadHandshake: it answered the handshake, but not with a
	// usable result.
	ReasonWorkloadBadHandshake = "WorkloadBadHandshake"
	// ReasonAgentUnreachable: the agent in the workload's container does not
	// answer the sidecar.
	ReasonAgentUnreachable = "AgentUnreachable"
	// ReasonSidecarFailed: the sidecar itself ends or does not start. Look at
	// its log.
	ReasonSidecarFailed = "SidecarFailed"
)

// Reasons of Programmed, Degraded and WorkloadExposed.
const (
	// ReasonReplicasNotReady (Degraded True): fewer pods answer than are
	// wanted, and no rollout explains it.
	ReasonReplicasNotReady = "ReplicasNotReady"
	// ReasonConflictingAutoscaler (Degraded True): an autoscaler writes the
	// replicas of the Deployment, so the operator leaves them alone (O5). Aim it
	// at the McpServer.
	ReasonConflictingAutoscaler = "ConflictingAutoscaler"
	// ReasonStatusUnreachable (Degraded True, Programmed Unknown): the operator
	// cannot read the status of ready pods. Serving is not affected. Let the
	// operator reach the pods' admin port.
	ReasonStatusUnreachable = "StatusUnreachable"
	// ReasonLiveContractLagging (Programmed False, Degraded True): ready pods
	// still use an older live contract; they are told again. Wait.
	ReasonLiveContractLagging = "LiveContractLagging"
	// ReasonLiveContractRejected (Programmed False, Degraded True): sidecars
	// could not load the live contract and keep the last good one. They are of
	// another release than the operator, or it is a fault of ours.
	ReasonLiveContractRejected = "LiveContractRejected"
	// ReasonListensOnAllInterfaces (WorkloadExposed True): let the workload
	// listen on 127.0.0.1 only.
	ReasonListensOnAllInterfaces = "ListensOnAllInterfaces"
)
