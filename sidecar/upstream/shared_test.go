package upstream

import "testing"

// Whoever is in charge of a leg is told once that it has ended, also when that
// was before.
func TestTheEndOfASharedLeg(t *testing.T) {
	for name, early := range map[string]bool{"after it was asked for": false, "before": true} {
		t.Run(name, func(t *testing.T) {
			var s Shared
			told := 0
			if early {
				s.End()
			}
			s.OnEnded(func() { told++ })
			if early != (told == 1) {
				t.Errorf("told %d times", told)
			}
			s.End()
			if told != 1 {
				t.Errorf("told %d times", told)
			}
		})
	}
}
