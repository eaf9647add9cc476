// Package conditions turns what a reconciler found into metav1.Conditions:
// transition times, generations, length. It must not know which conditions
// there are, nor what they mean.
package conditions

import (
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxMessage bounds a message, in bytes.
const MaxMessage = 1024

// Condition is a condition as it should be now.
type Condition struct {
	Type    string
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

// Merge returns want, in its order, as conditions about generation. One whose
// status is unchanged keeps its transition time. Types that are not in want
// are dropped: a caller wants all conditions that it owns.
func Merge(existing []metav1.Condition, want []Condition, generation int64, now metav1.Time) []metav1.Condition {
	out := make([]metav1.Condition, 0, len(want))
	for _, w := range want {
		c := metav1.Condition{
			Type: w.Type, Status: w.Status, Reason: w.Reason, Message: Truncate(w.Message),
			ObservedGeneration: generation, LastTransitionTime: now,
		}
		if old := Find(existing, w.Type); old != nil && old.Status == w.Status {
			c.LastTransitionTime = old.LastTransitionTime
		}
		out = append(out, c)
	}
	return out
}

// Find returns the condition of the type, or nil.
func Find(list []metav1.Condition, typ string) *metav1.Condition {
	for i := range list {
		if list[i].Type == typ {
			return &list[i]
		}
	}
	return nil
}

// Truncate cuts a message to MaxMessage bytes between characters.
func Truncate(s string) string {
	const mark = "…"
	if len(s) <= MaxMessage {
		return s
	}
	cut := MaxMessage - len(mark)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + mark
}
