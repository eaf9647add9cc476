package upstream

// Era is how a workload can be spoken to, as /status spells it.
type Era string

// The eras.
const (
	// EraLegacy: with a handshake and sessions.
	EraLegacy Era = "legacy"
	// EraModern: every request carries its own metadata.
	EraModern Era = "modern"
	// EraDual: both; each client is served in its own era (B1.7, P19).
	EraDual Era = "dual"
)

// Legacy reports whether the workload speaks to sessions.
func (e Era) Legacy() bool { return e == EraLegacy || e == EraDual }

// Modern reports whether the workload takes requests without a session.
func (e Era) Modern() bool { return e == EraModern || e == EraDual }
