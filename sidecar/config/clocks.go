package config

// The fixed parts of the termination clocks (O3).
const (
	propagationSeconds  = 5
	workloadTermSeconds = 5
	sidecarSeconds      = 5
	marginSeconds       = 5
)

// NewClocks computes all termination clocks from the one number a user may
// set. drainSeconds below zero counts as zero and above MaxDrainSeconds as
// MaxDrainSeconds, so that no input can make the sum overflow or shrink.
func NewClocks(drainSeconds int) Clocks {
	return Clocks{
		PropagationSeconds:  propagationSeconds,
		DrainSeconds:        min(max(drainSeconds, 0), MaxDrainSeconds),
		WorkloadTermSeconds: workloadTermSeconds,
		SidecarSeconds:      sidecarSeconds,
		MarginSeconds:       marginSeconds,
	}
}

// Hook is how long, in seconds, a preStop hook may take: endpoints must move
// away first, then calls finish.
func (c Clocks) Hook() int { return c.PropagationSeconds + c.DrainSeconds }

// Grace is the pod's terminationGracePeriodSeconds: the sum of everything that
// happens one after the other, so that a hook can never run into the kubelet's
// KILL (O3).
func (c Clocks) Grace() int {
	return c.Hook() + c.WorkloadTermSeconds + c.SidecarSeconds + c.MarginSeconds
}
