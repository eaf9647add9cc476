package v1alpha1

import corev1 "k8s.io/api/core/v1"

// WorkloadType is how the sidecar talks to the workload.
//
// +kubebuilder:validation:Enum=Stdio;MCP
type WorkloadType string

// The workload types.
const (
	// WorkloadStdio: the sidecar's agent starts the command, which speaks MCP
	// on standard input and output.
	WorkloadStdio WorkloadType = "Stdio"
	// WorkloadMCP: the container speaks MCP over streamable HTTP on loopback.
	WorkloadMCP WorkloadType = "MCP"
)

// ProcessModel is how processes of a Stdio workload relate to clients.
//
// +kubebuilder:validation:Enum=PerSession;Pooled;Shared
type ProcessModel string

// The process models (R23).
const (
	// ProcessPerSession: each session has a process of its own, from initialize
	// to the session's end; clients without sessions get one per kind of client.
	ProcessPerSession ProcessModel = "PerSession"
	// ProcessPooled: the same, with processes that are started beforehand.
	ProcessPooled ProcessModel = "Pooled"
	// ProcessShared: one process serves everybody.
	ProcessShared ProcessModel = "Shared"
)

// OnIdle is what becomes of a session whose process ends.
//
// +kubebuilder:validation:Enum=End;Recreate
type OnIdle string

// What becomes of it.
const (
	OnIdleEnd      OnIdle = "End"
	OnIdleRecreate OnIdle = "Recreate"
)

// Leasing says when a call has a process to itself.
//
// +kubebuilder:validation:Enum=Auto;Always;Never
type Leasing string

// When it has.
const (
	LeasingAuto   Leasing = "Auto"
	LeasingAlways Leasing = "Always"
	LeasingNever  Leasing = "Never"
)

// Sharing says whether different people may use one process.
//
// +kubebuilder:validation:Enum=Refuse;Allow
type Sharing string

// The ways.
const (
	SharingRefuse Sharing = "Refuse"
	SharingAllow  Sharing = "Allow"
)

// Workload is the MCP server in the pod. It is a union: type names the member
// that configures it.
//
// +kubebuilder:validation:XValidation:rule="self.type != 'Stdio' || has(self.command)",message="command is required when type is Stdio: it replaces the image's ENTRYPOINT, which cannot be seen from here, and the agent must know what to start; write the program and its arguments, for example command: [node, /app/server.js]",fieldPath=".command"
// +kubebuilder:validation:XValidation:rule="self.type == 'Stdio' || !has(self.stdio)",message="stdio may only be set when type is Stdio; remove it or change the type",fieldPath=".stdio"
// +kubebuilder:validation:XValidation:rule="self.type != 'MCP' || has(self.mcp)",message="mcp is required when type is MCP: set mcp.port to the port that the server listens on"
// +kubebuilder:validation:XValidation:rule="self.type == 'MCP' || !has(self.mcp)",message="mcp may only be set when type is MCP; remove it or change the type",fieldPath=".mcp"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeMounts) || self.volumeMounts.all(m, has(self.volumes) && self.volumes.exists(v, v.name == m.name))",message="every volumeMounts[].name must be the name of one of workload.volumes; add the volume or correct the name",fieldPath=".volumeMounts"
type Workload struct {
	// type says how the sidecar talks to the workload: Stdio, a command that
	// speaks MCP on standard input and output; or MCP, a server that speaks
	// streamable HTTP on the pod's loopback.
	// +required
	// +unionDiscriminator
	Type WorkloadType `json:"type,omitempty"`

	// image holds the server. It needs no shell and no USER: it runs as user
	// 10001 unless securityContext says otherwise.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.matches('[[:space:]]')",message="image must not contain white space; write a reference such as registry.example/name:tag"
	Image string `json:"image,omitempty"`

	// imagePullPolicy is when the image is pulled. Absent: Always for the tag
	// latest or none, else IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// command is the program and its first arguments. It replaces the image's
	// ENTRYPOINT and is required for type Stdio. Not run in a shell.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=8192
	Command []string `json:"command,omitempty"`

	// args follow the command. They replace the image's CMD.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=8192
	Args []string `json:"args,omitempty"`

	// env are environment variables of the workload. HOME, TMPDIR and the
	// caches of npm and uv point to writable places unless set here. Names
	// that begin with FAIRLEAD_ are reserved.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:XValidation:rule="self.all(e, !e.name.startsWith('FAIRLEAD_'))",message="names of environment variables that begin with FAIRLEAD_ are reserved for the operator; rename the variable"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// envFrom fills environment variables from Secrets and ConfigMaps of the
	// same namespace. A later change of those does not restart the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	EnvFrom []corev1.EnvFromSource `json:"envFrom,omitempty"`

	// volumes are the volumes that volumeMounts can name.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Volumes []Volume `json:"volumes,omitempty"`

	// volumeMounts are the places of volumes in the workload's file system.
	// /tmp and /home/mcp are writable without any, unless mounted here.
	// +optional
	// +listType=map
	// +listMapKey=mountPath
	// +kubebuilder:validation:MaxItems=32
	VolumeMounts []VolumeMount `json:"volumeMounts,omitempty"`

	// resources are requests and limits of the workload's container; with
	// type Stdio all processes of the pod share them.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims) || self.claims.size() == 0",message="resources.claims is not supported: a McpServer cannot declare resource claims; remove it"
	Resources corev1.ResourceRequirements `json:"resources,omitzero"`

	// securityContext is merged over the default, which passes Pod Security
	// restricted: user and group 10001, no capabilities, no privilege
	// escalation, a read-only root file system, the runtime's seccomp profile.
	// Set runAsUser for an image that needs its own user and
	// readOnlyRootFilesystem: false for one that writes. Nothing that
	// restricted forbids may be set.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.privileged) || !self.privileged",message="privileged: true is not allowed: pods always pass Pod Security restricted; remove it"
	// +kubebuilder:validation:XValidation:rule="!has(self.allowPrivilegeEscalation) || !self.allowPrivilegeEscalation",message="allowPrivilegeEscalation: true is not allowed: pods always pass Pod Security restricted; remove it"
	// +kubebuilder:validation:XValidation:rule="!has(self.capabilities) || !has(self.capabilities.add) || self.capabilities.add.size() == 0",message="capabilities.add is not allowed: all capabilities are dropped; remove it, and listen on a port above 1023"
	// +kubebuilder:validation:XValidation:rule="!has(self.runAsNonRoot) || self.runAsNonRoot",message="runAsNonRoot: false is not allowed: pods always pass Pod Security restricted; remove it, and set runAsUser to the user that the image needs"
	// +kubebuilder:validation:XValidation:rule="!has(self.runAsUser) || self.runAsUser != 65532",message="runAsUser: 65532 is the sidecar's user; choose another, so that the workload cannot reach the sidecar's files"
	// +kubebuilder:validation:XValidation:rule="!has(self.procMount) || self.procMount == 'Default'",message="procMount must be Default: pods always pass Pod Security restricted; remove it"
	// +kubebuilder:validation:XValidation:rule="!has(self.seccompProfile) || self.seccompProfile.type != 'Unconfined'",message="seccompProfile.type: Unconfined is not allowed: pods always pass Pod Security restricted; use RuntimeDefault or Localhost"
	// +kubebuilder:validation:XValidation:rule="!has(self.appArmorProfile) || self.appArmorProfile.type != 'Unconfined'",message="appArmorProfile.type: Unconfined is not allowed: pods always pass Pod Security restricted; use RuntimeDefault or Localhost"
	// +kubebuilder:validation:XValidation:rule="!has(self.seLinuxOptions) || (!has(self.seLinuxOptions.user) && !has(self.seLinuxOptions.role) && (!has(self.seLinuxOptions.type) || self.seLinuxOptions.type in ['', 'container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t']))",message="seLinuxOptions may set level and one of the container types only: pods always pass Pod Security restricted; remove user, role and other types"
	// +kubebuilder:validation:XValidation:rule="!has(self.windowsOptions)",message="windowsOptions is not supported: workloads run on Linux; remove it"
	SecurityContext *corev1.SecurityContext `json:"securityContext,omitempty"`

	// livenessProbe restarts the workload's container when it fails. None by
	// default: readiness is the sidecar's, by a handshake with the workload.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(x, x)",message="a probe must set exactly one of exec, httpGet, tcpSocket and grpc"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host)) && (!has(self.tcpSocket) || !has(self.tcpSocket.host))",message="a probe must not set host: it always goes to the pod; remove host"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) == int) && (!has(self.tcpSocket) || type(self.tcpSocket.port) == int)",message="a probe's port must be a number: the workload's container has no named ports"
	// +kubebuilder:validation:XValidation:rule="!has(self.terminationGracePeriodSeconds)",message="a probe must not set terminationGracePeriodSeconds: the operator sets 10, so that a restart never waits for the drain; remove it"
	LivenessProbe *corev1.Probe `json:"livenessProbe,omitempty"`

	// startupProbe holds livenessProbe back until it has succeeded once, and
	// restarts the workload's container when it never does. None by default.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.exec), has(self.httpGet), has(self.tcpSocket), has(self.grpc)].exists_one(x, x)",message="a probe must set exactly one of exec, httpGet, tcpSocket and grpc"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || !has(self.httpGet.host)) && (!has(self.tcpSocket) || !has(self.tcpSocket.host))",message="a probe must not set host: it always goes to the pod; remove host"
	// +kubebuilder:validation:XValidation:rule="(!has(self.httpGet) || type(self.httpGet.port) == int) && (!has(self.tcpSocket) || type(self.tcpSocket.port) == int)",message="a probe's port must be a number: the workload's container has no named ports"
	// +kubebuilder:validation:XValidation:rule="!has(self.terminationGracePeriodSeconds)",message="a probe must not set terminationGracePeriodSeconds: the operator sets 10, so that a restart never waits for the drain; remove it"
	StartupProbe *corev1.Probe `json:"startupProbe,omitempty"`

	// stdio configures a workload of type Stdio.
	// +optional
	// +unionMember
	Stdio *StdioWorkload `json:"stdio,omitempty"`

	// mcp configures a workload of type MCP and is required for it.
	// +optional
	// +unionMember
	MCP *MCPWorkload `json:"mcp,omitzero"`
}

// StdioWorkload configures processes that speak MCP on standard input and
// output.
//
// +kubebuilder:validation:XValidation:rule="!has(self.onIdle) || self.onIdle != 'End' || !has(self.processModel) || self.processModel != 'Shared'",message="onIdle: End does not go with processModel: Shared, whose sessions always outlive the process; remove onIdle",fieldPath=".onIdle"
// +kubebuilder:validation:XValidation:rule="!has(self.sharedAcrossPrincipals) || (has(self.processModel) && self.processModel == 'Shared')",message="sharedAcrossPrincipals is about processModel: Shared; remove it or set that model",fieldPath=".sharedAcrossPrincipals"
type StdioWorkload struct {
	// processModel says how processes relate to clients. PerSession: each
	// session has a process of its own. Pooled: the same, with processes that
	// are started before anybody asks. Shared: one process serves everybody; it
	// is told of no client's capabilities, so it can ask no client anything, and
	// you declare that it keeps its clients apart. Default PerSession.
	// +optional
	ProcessModel ProcessModel `json:"processModel,omitempty"`

	// maxProcesses bounds the processes of one pod, and with PerSession its
	// sessions. Set resources for that many. Default 16.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	MaxProcesses *int32 `json:"maxProcesses,omitempty"`

	// idleSeconds is how long a process without calls is kept. Default 600.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=86400
	IdleSeconds *int32 `json:"idleSeconds,omitempty"`

	// startupSeconds is how long a process may take to answer its first
	// request; allow for downloads of npx and uvx. Default 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=600
	StartupSeconds *int32 `json:"startupSeconds,omitempty"`

	// maxMessageBytes bounds one message from the process; a longer one ends
	// it. Default 4194304 (4 MiB).
	// +optional
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=67108864
	MaxMessageBytes *int64 `json:"maxMessageBytes,omitempty"`

	// onIdle says what becomes of a session whose process ends, for being idle
	// or by itself. End: the session ends too. Recreate: its next request starts
	// another process, which is told what the last one was told, and knows
	// nothing else of it. Default End; with processModel Shared Recreate.
	// +optional
	OnIdle OnIdle `json:"onIdle,omitempty"`

	// leasing says when a call of a client without a session has a process to
	// itself, so that what the process asks meanwhile is certainly about that
	// call. Auto: where it has proved to be needed. Always; Never. Default Auto.
	// +optional
	Leasing Leasing `json:"leasing,omitempty"`

	// sharedAcrossPrincipals says whether clients that are authenticated as
	// different people may use the one process of processModel Shared. Refuse:
	// authenticated clients are turned away. Default Refuse.
	// +optional
	SharedAcrossPrincipals Sharing `json:"sharedAcrossPrincipals,omitempty"`

	// revision is the protocol revision that the command speaks. Auto: the
	// sidecar starts two processes at first to find out. Default Auto.
	// +optional
	Revision WorkloadRevision `json:"revision,omitempty"`
}

// MCPWorkload configures a server that speaks streamable HTTP on loopback.
type MCPWorkload struct {
	// port is where the server listens; 127.0.0.1 is enough. 17080 to 17099
	// belong to the sidecar.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	// +kubebuilder:validation:XValidation:rule="self < 17080 || self > 17099",message="ports 17080 to 17099 belong to the sidecar in the same pod; let the server listen on another port"
	Port int32 `json:"port,omitempty"`

	// path is the server's MCP endpoint. Default /mcp.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/') && !self.matches('[?#[:space:]]') && !self.matches('//|/[.][.]?(/|$)')",message="path must be a clean absolute path such as /mcp, without query, fragment, white space, empty, '.' or '..' segments"
	Path string `json:"path,omitempty"`

	// revision is the protocol revision that the server speaks. Auto: the
	// sidecar finds out. Default Auto.
	// +optional
	Revision WorkloadRevision `json:"revision,omitempty"`
}
