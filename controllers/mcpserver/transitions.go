package mcpserver

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
	"github.com/fairlead-dev/fairlead/controllers/internal/events"
)

// quiet are reasons that other events tell already, or that only say "wait".
func quiet(reason string) bool {
	switch reason {
	case v1alpha1.ReasonAccepted, v1alpha1.ReasonResolvedRefs, v1alpha1.ReasonPending,
		v1alpha1.ReasonStarting, v1alpha1.ReasonRollingOut, v1alpha1.ReasonLiveContractLagging:
		return true
	}
	return false
}

// transitions tells of the conditions whose status or reason changed, each
// reason once.
func transitions(before, after []metav1.Condition) []events.Event {
	var out []events.Event
	told := map[string]bool{}
	for _, c := range after {
		old := conditions.Find(before, c.Type)
		if old != nil && old.Status == c.Status && old.Reason == c.Reason || quiet(c.Reason) || told[c.Reason] {
			continue
		}
		told[c.Reason] = true
		out = append(out, events.Transition(c.Type, isGood(c), c.Reason, c.Message))
	}
	return out
}

// isGood: the required conditions are good when True, the advisory ones are
// there only while something is not.
func isGood(c metav1.Condition) bool {
	if c.Reason == v1alpha1.ReasonScaledToZero || c.Reason == v1alpha1.ReasonWaitingForPrevious {
		return true // asked for, or in order
	}
	switch c.Type {
	case v1alpha1.ConditionDegraded, v1alpha1.ConditionWorkloadExposed:
		return false
	}
	return c.Status == metav1.ConditionTrue
}
