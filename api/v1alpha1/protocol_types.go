package v1alpha1

// ProtocolRevision is a revision of the Model Context Protocol.
//
// +kubebuilder:validation:Enum="2024-11-05";"2025-03-26";"2025-06-18";"2025-11-25";"2026-07-28"
type ProtocolRevision string

// WorkloadRevision is the revision that a workload speaks, or Auto.
//
// +kubebuilder:validation:Enum=Auto;"2024-11-05";"2025-03-26";"2025-06-18";"2025-11-25";"2026-07-28"
type WorkloadRevision string

// RevisionAuto: the sidecar finds out.
const RevisionAuto WorkloadRevision = "Auto"

// Switch turns something on or off.
//
// +kubebuilder:validation:Enum=Enabled;Disabled
type Switch string

// The switches.
const (
	Enabled  Switch = "Enabled"
	Disabled Switch = "Disabled"
)

// Protocol says how clients may speak.
//
// +kubebuilder:validation:XValidation:rule="!has(self.httpSSE) || self.httpSSE != 'Enabled' || !has(self.revisions) || self.revisions.size() == 0 || self.revisions.exists(r, r != '2026-07-28')",message="httpSSE: Enabled needs a revision with sessions, and revisions lists only 2026-07-28, which does not exist on that transport; add an older revision, or remove httpSSE",fieldPath=".httpSSE"
type Protocol struct {
	// revisions are those that clients may speak; others are refused with the
	// list of these. Sessions that exist keep theirs. A change takes effect
	// within seconds, without a restart. Empty: all.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=5
	Revisions []ProtocolRevision `json:"revisions,omitempty"`

	// httpSSE serves the older transport HTTP+SSE on the same URL as well, for
	// clients that know no streamable HTTP. Its sessions end with their
	// connection. A change takes effect within seconds, without a restart.
	// Default Disabled.
	// +optional
	HTTPSSE Switch `json:"httpSSE,omitempty"`

	// clientRoots says whether clients without sessions that offer roots are
	// asked for them when a workload that is of a revision with sessions asks.
	// The first answer of such a call is then a question. A change rolls the
	// pods. Default Disabled.
	// +optional
	ClientRoots Switch `json:"clientRoots,omitempty"`

	// roots are named to a workload that asks for roots where no client can be
	// asked: with processModel Shared. A change rolls the pods.
	// +optional
	// +listType=map
	// +listMapKey=uri
	// +kubebuilder:validation:MaxItems=8
	Roots []Root `json:"roots,omitempty"`
}

// Root is a place that a workload may work in.
type Root struct {
	// uri begins with file://.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule="self.startsWith('file://')",message="the uri of a root must begin with file://, such as file:///data"
	URI string `json:"uri,omitempty"`

	// name is shown to people.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Name string `json:"name,omitempty"`
}
