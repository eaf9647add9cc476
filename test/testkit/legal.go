package testkit

import (
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
)

// LegalStatus lists what is wrong with the status of a server that was
// reconciled: a status that no state of the world can justify, and conditions
// that contradict each other.
func LegalStatus(s *v1alpha1.McpServer) []string {
	var out []string
	add := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("status of %s: ", s.Name)+fmt.Sprintf(format, args...))
	}
	if s.Status.ObservedGeneration > s.Generation {
		add("observedGeneration %d is ahead of generation %d", s.Status.ObservedGeneration, s.Generation)
	}
	have := map[string]metav1.Condition{}
	known := append(v1alpha1.RequiredConditions(), v1alpha1.AdvisoryConditions()...)
	for _, c := range s.Status.Conditions {
		have[c.Type] = c
		if !slices.Contains(known, c.Type) {
			add("condition %s is not declared", c.Type)
		}
		if c.ObservedGeneration > s.Generation {
			add("condition %s is about generation %d of %d", c.Type, c.ObservedGeneration, s.Generation)
		}
		if c.Reason == "" || c.Message == "" {
			add("condition %s has reason %q and message %q", c.Type, c.Reason, c.Message)
		}
		if slices.Contains(v1alpha1.AdvisoryConditions(), c.Type) && c.Status != metav1.ConditionTrue {
			add("advisory condition %s is %s", c.Type, c.Status)
		}
	}
	for _, typ := range v1alpha1.RequiredConditions() {
		if _, ok := have[typ]; !ok {
			add("condition %s is missing", typ)
		}
	}
	is := func(typ string, status metav1.ConditionStatus) bool { return have[typ].Status == status }
	if is(v1alpha1.ConditionReady, metav1.ConditionTrue) {
		for _, typ := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionAvailable} {
			if !is(typ, metav1.ConditionTrue) {
				add("Ready is True and %s %s", typ, have[typ].Status)
			}
		}
	}
	if is(v1alpha1.ConditionAccepted, metav1.ConditionFalse) && !is(v1alpha1.ConditionReady, metav1.ConditionFalse) {
		add("Accepted is False and Ready %s", have[v1alpha1.ConditionReady].Status)
	}
	if r, u := s.Status.ReadyReplicas, s.Status.UpdatedReadyReplicas; r != nil && u != nil && *u > *r {
		add("%d of %d ready replicas are updated", *u, *r)
	}
	return out
}
