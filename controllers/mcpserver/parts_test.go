package mcpserver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/apply"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
	"github.com/fairlead-dev/fairlead/controllers/internal/podstatus"
	"github.com/fairlead-dev/fairlead/controllers/mcpserver/desired"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// D9, O8.
func TestKeyData(t *testing.T) {
	key := bytes.Repeat([]byte{1}, config.KeyBytes)
	other := bytes.Repeat([]byte{2}, config.KeyBytes)
	tests := map[string]struct {
		have     map[string][]byte
		wantKeys []string // "" for a new one
		wantSeal string
		anew     bool
	}{
		"no Secret":    {anew: true},
		"empty Secret": {have: map[string][]byte{}, anew: true},
		"one key":      {have: map[string][]byte{"a": key, "sealWith": []byte("a")}, wantKeys: []string{"a"}, wantSeal: "a"},
		"a rotation under way": {
			have:     map[string][]byte{"a": key, "b": other, "sealWith": []byte("b")},
			wantKeys: []string{"a", "b"}, wantSeal: "b",
		},
		"sealWith names no key":  {have: map[string][]byte{"b": key, "a": other, "sealWith": []byte("zz")}, wantKeys: []string{"a", "b"}, wantSeal: "a"},
		"sealWith lost":          {have: map[string][]byte{"b": key}, wantKeys: []string{"b"}, wantSeal: "b"},
		"one key damaged":        {have: map[string][]byte{"a": key[:31], "b": other, "sealWith": []byte("a")}, wantKeys: []string{"b"}, wantSeal: "b"},
		"the only key damaged":   {have: map[string][]byte{"a": key[:31], "sealWith": []byte("a")}, anew: true},
		"entries that are no id": {have: map[string][]byte{"A": key, "toolongid": key, "a.b": key, "a": key, "sealWith": []byte("A")}, wantKeys: []string{"a"}, wantSeal: "a"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, anew, err := keyData(tc.have, bytes.NewReader(bytes.Repeat([]byte{9}, 64)))
			if err != nil || anew != tc.anew {
				t.Fatalf("anew %v, error %v", anew, err)
			}
			seal := string(got[config.SealWith])
			if len(got[seal]) != config.KeyBytes || !validKeyID(seal) {
				t.Errorf("sealWith %q names no key of %v", seal, got)
			}
			if tc.anew {
				if len(got) != 2 {
					t.Errorf("got %d entries", len(got))
				}
				return
			}
			if seal != tc.wantSeal || len(got) != len(tc.wantKeys)+1 {
				t.Errorf("got %v", got)
			}
			for _, id := range tc.wantKeys {
				if !bytes.Equal(got[id], tc.have[id]) {
					t.Errorf("key %s was changed", id)
				}
			}
		})
	}
	if _, _, err := keyData(nil, iotest.ErrReader(io.ErrUnexpectedEOF)); err == nil {
		t.Error("a key was made without random bytes")
	}
}

// A lost key must not come back under its old id: sidecars would take handles
// of the old key for forgeries of the new one.
func TestNewKeysHaveNewIDs(t *testing.T) {
	a, _, _ := newKey(bytes.NewReader(bytes.Repeat([]byte{1}, 64)))
	b, _, _ := newKey(bytes.NewReader(bytes.Repeat([]byte{2}, 64)))
	if a == b || !validKeyID(a) || !validKeyID(b) {
		t.Errorf("%q, %q", a, b)
	}
}

// O15: an annotation that does not change tells the kubelet nothing.
func TestNextTouch(t *testing.T) {
	const d, e = "0123abcd", "feedbeef"
	for _, tc := range []struct{ last, digest, want string }{
		{"", d, d}, {d, d, d + ".2"}, {d + ".2", d, d + ".3"}, {d + ".junk", d, d + ".2"}, {d + ".7", e, e},
	} {
		if got := nextTouch(tc.last, tc.digest); got != tc.want || got == tc.last {
			t.Errorf("after %q for %s: %q, want %q", tc.last, tc.digest, got, tc.want)
		}
	}
}

func TestNeedsTouch(t *testing.T) {
	const d = "new"
	view := func(st *config.Status, annotation string) podView {
		return podView{
			pod:    &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{AnnotationLive: annotation}}},
			answer: podstatus.Answer{Status: st},
		}
	}
	tests := map[string]struct {
		v    podView
		want bool
	}{
		"has not reported":            {v: view(nil, "")},
		"agrees":                      {v: view(&config.Status{LiveDigest: d}, "")},
		"agrees in an older version":  {v: view(&config.Status{LiveDigest: "new in v1"}, "")},
		"lags":                        {v: view(&config.Status{LiveDigest: "old"}, ""), want: true},
		"lags although told":          {v: view(&config.Status{LiveDigest: "old"}, d+".3"), want: true},
		"refused one before":          {v: view(&config.Status{LiveDigest: "old", LiveError: "x"}, "older"), want: true},
		"refused this one: told once": {v: view(&config.Status{LiveDigest: "old", LiveError: "x"}, d)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := needsTouch(tc.v, desired.Digests{config.LiveVersion: d, 1: "new in v1"}); got != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// O18: a reason does not flap while its fault lasts, and goes at once when the
// pods are ready.
func TestStick(t *testing.T) {
	exited := &podfault.Fault{Reason: v1alpha1.ReasonWorkloadExited, Message: "exited"}
	mute := &podfault.Fault{Reason: v1alpha1.ReasonWorkloadNoAnswer, Message: "mute"}
	clk := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	r := &Reconciler{clock: clk}
	server := &v1alpha1.McpServer{}
	m := &memory{}
	step := func(after time.Duration, found *podfault.Fault, notReady bool) *podfault.Fault {
		clk.SetTime(clk.Now().Add(after))
		return r.stick(&scope{server: server, memory: m, template: desired.Template{Hash: "1"}}, found, notReady, clk.Now())
	}
	for i, s := range []struct {
		after    time.Duration
		found    *podfault.Fault
		notReady bool
		want     *podfault.Fault
	}{
		{0, exited, true, exited},
		{time.Second, nil, true, exited},      // it runs for a second
		{time.Second, mute, true, exited},     // a weaker explanation
		{time.Second, exited, true, exited},   // seen again: the clock starts anew
		{29 * time.Second, nil, true, exited}, //
		{2 * time.Second, nil, true, nil},     // gone for 31 s
		{time.Second, mute, true, mute},       //
		{time.Second, exited, true, exited},   // a better explanation wins at once
		{time.Second, nil, false, nil},        // ready
		{time.Second, nil, true, nil},         // and forgotten
		{time.Second, mute, true, mute},       //
		{31 * time.Second, exited, true, exited},
	} {
		if got := step(s.after, s.found, s.notReady); got != s.want {
			t.Errorf("step %d: got %v, want %v", i, got, s.want)
		}
	}
	m2 := &scope{server: server, memory: m, template: desired.Template{Hash: "2"}}
	if got := r.stick(m2, nil, true, clk.Now()); got != nil {
		t.Errorf("the fault of another template stays: %v", got)
	}
}

// An operator that has just started knows the reason from the status.
func TestStickAfterARestart(t *testing.T) {
	clk := clocktesting.NewFakePassiveClock(time.Unix(1000, 0))
	r := &Reconciler{clock: clk}
	server := &v1alpha1.McpServer{ObjectMeta: metav1.ObjectMeta{Generation: 3}}
	server.Status.Conditions = []metav1.Condition{{
		Type: v1alpha1.ConditionReady, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonWorkloadCrashLooping, Message: "m", ObservedGeneration: 3,
	}}
	s := &scope{server: server, memory: &memory{}, template: desired.Template{Hash: "1"}}
	got := r.stick(s, nil, true, clk.Now())
	if got == nil || got.Reason != v1alpha1.ReasonWorkloadCrashLooping || !got.Terminal {
		t.Errorf("got %v", got)
	}
	server.Generation = 4
	if got := r.stick(&scope{server: server, memory: &memory{}, template: s.template}, nil, true, clk.Now()); got != nil {
		t.Errorf("the status of an older spec counts: %v", got)
	}
}

func TestDeploymentFailure(t *testing.T) {
	invalidErr := apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "demo", field.ErrorList{
		field.Invalid(field.NewPath("spec", "template", "spec", "containers").Index(0).Child("resources", "requests"), "secret-value", "must be less"),
		field.Required(field.NewPath("spec", "x"), ""),
	})
	tests := map[string]struct {
		err    error
		class  outcome.Class
		reason string
		says   string
	}{
		"refused as invalid": {
			err: fmt.Errorf("applying: %w", invalidErr), class: outcome.Invalid, reason: v1alpha1.ReasonInvalidPodTemplate,
			says: "spec.template.spec.containers[0].resources.requests (invalid), spec.x (required)",
		},
		"cannot even be sent": {
			err: &apply.ShapeError{Err: errors.New("duplicate entries")}, class: outcome.Invalid, reason: v1alpha1.ReasonInvalidPodTemplate, says: "duplicate",
		},
		"conflict":          {err: apierrors.NewConflict(schema.GroupResource{Resource: "deployments"}, "demo", nil), class: outcome.Waiting, reason: v1alpha1.ReasonApplyFailed},
		"API server failed": {err: apierrors.NewInternalError(errors.New("x")), class: outcome.Transient, reason: v1alpha1.ReasonApplyFailed},
		"namespace terminating": {
			err: &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Details: &metav1.StatusDetails{
				Causes: []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}},
			}}}, class: outcome.Waiting, reason: v1alpha1.ReasonApplyFailed,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := deploymentFailure(applyFailure("Deployment", tc.err))
			if f.Class != tc.class || f.Reason != tc.reason || !strings.Contains(f.Message, tc.says) {
				t.Errorf("got %v", f)
			}
			if strings.Contains(f.Message, "secret-value") {
				t.Errorf("the message quotes a value: %s", f.Message)
			}
			if f.Class == outcome.Waiting && f.After == 0 {
				t.Error("waits for ever")
			}
		})
	}
}

// Style rule 31, ops I10: what a workload says of itself is shown, not obeyed.
func TestPlain(t *testing.T) {
	if got := plain(strings.Repeat("é", 9), 5); got != strings.Repeat("é", 5) {
		t.Error(got)
	}
	if got := plain("a\x1b[31mred\n\x00", 50); got != "a[31mred" {
		t.Errorf("%q", got)
	}
	if got := plain("bad\xffutf8", 50); got != "badutf8" {
		t.Errorf("%q", got)
	}
}

func TestOfDeployment(t *testing.T) {
	pod := func(rs, hash, kind string) *corev1.Pod {
		yes := true
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Labels:          map[string]string{"pod-template-hash": hash},
			OwnerReferences: []metav1.OwnerReference{{Kind: kind, Name: rs, Controller: &yes}},
		}}
	}
	for name, tc := range map[string]struct {
		pod  *corev1.Pod
		want bool
	}{
		"of its ReplicaSet":            {pod("demo-abc", "abc", "ReplicaSet"), true},
		"of another Deployment's":      {pod("demo-two-abc", "abc", "ReplicaSet"), false},
		"of a Job with a fitting name": {pod("demo-abc", "abc", "Job"), false},
		"of nobody":                    {&corev1.Pod{}, false},
	} {
		if got := ofDeployment(tc.pod, "demo"); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
