package conditions_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
)

func TestMerge(t *testing.T) {
	before, now := metav1.NewTime(time.Unix(100, 0)), metav1.NewTime(time.Unix(200, 0))
	existing := []metav1.Condition{
		{Type: "A", Status: metav1.ConditionTrue, Reason: "Old", Message: "old", LastTransitionTime: before, ObservedGeneration: 1},
		{Type: "B", Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: before, ObservedGeneration: 1},
		{Type: "Gone", Status: metav1.ConditionTrue, Reason: "Old", LastTransitionTime: before},
	}
	got := conditions.Merge(existing, []conditions.Condition{
		{Type: "B", Status: metav1.ConditionFalse, Reason: "New"},
		{Type: "A", Status: metav1.ConditionTrue, Reason: "New", Message: "new"},
		{Type: "C", Status: metav1.ConditionUnknown, Reason: "New"},
	}, 2, now)
	want := []metav1.Condition{
		{Type: "B", Status: metav1.ConditionFalse, Reason: "New", LastTransitionTime: now, ObservedGeneration: 2},
		{Type: "A", Status: metav1.ConditionTrue, Reason: "New", Message: "new", LastTransitionTime: before, ObservedGeneration: 2},
		{Type: "C", Status: metav1.ConditionUnknown, Reason: "New", LastTransitionTime: now, ObservedGeneration: 2},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTruncate(t *testing.T) {
	for _, s := range []string{"", "short", strings.Repeat("x", conditions.MaxMessage), strings.Repeat("é", 600), strings.Repeat("€", 999)} {
		got := conditions.Truncate(s)
		if len(got) > conditions.MaxMessage || !utf8.ValidString(got) {
			t.Errorf("%d bytes became %d, valid %v", len(s), len(got), utf8.ValidString(got))
		}
		if len(s) <= conditions.MaxMessage && got != s {
			t.Errorf("%q was cut", s)
		}
		if len(s) > conditions.MaxMessage && !strings.HasSuffix(got, "…") {
			t.Errorf("the cut of %d bytes does not show", len(s))
		}
	}
}
