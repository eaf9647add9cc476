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
}
