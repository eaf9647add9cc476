package stdio

import "github.com/fairlead-dev/fairlead/sidecar/upstream"

// Model is how processes relate to clients (R23).
type Model string

// The models.
const (
	// PerSession, the same as "": each session has a process of its own.
	PerSession Model = "PerSession"
	// Shared: one process serves everybody; see Config.AcrossPrincipals.
	Shared Model = "Shared"
	// Pooled is PerSession with processes that are started beforehand, and
	// more than one for a key when that is busy.
	Pooled Model = "Pooled"
)

// Root is what the sidecar itself names to a process that is nobody's.
type Root struct{ URI, Name string }

// admit refuses callers who are known by name on a process that is everybody's,
// unless its owner has said that they may share it (R23).
func (p *Pool) admit(principal string) error {
	if p.cfg.Model == Shared && principal != "" && !p.cfg.AcrossPrincipals {
		return upstream.ErrNotShared
	}
	return nil
}
