package mcpserver

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/fairlead-dev/fairlead/api/v1alpha1"
	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
	"github.com/fairlead-dev/fairlead/controllers/internal/outcome"
	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
)

// O7: over (old ready, new ready, where the rollout stands, fault, replicas,
// what was written).
func TestVerdict(t *testing.T) {
	pull := &podfault.Fault{Reason: v1alpha1.ReasonImagePullFailed, Message: "pull.", Terminal: true}
	mute := &podfault.Fault{Reason: v1alpha1.ReasonWorkloadNoAnswer, Message: "mute."}
	gone := &podfault.Fault{Reason: v1alpha1.ReasonVolumeNotFound, Message: "gone.", Reference: true}
	fails := func(class outcome.Class, reason string) *outcome.Failure {
		return &outcome.Failure{Class: class, Reason: reason, Message: reason + "."}
	}
	tests := map[string]struct {
		facts facts
		// "Type=Status/Reason", the required ones in order, then the advisory.
		want string
	}{
		"first pods are starting": {
			facts{desired: 1, rollout: rolloutProgressing},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/Starting Ready=Unknown/RollingOut",
		},
		"first pods cannot start, which is final": {
			facts{desired: 1, rollout: rolloutProgressing, fault: pull, missing: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/ImagePullFailed Ready=False/ImagePullFailed",
		},
		"first pods do not answer yet": {
			facts{desired: 1, rollout: rolloutProgressing, fault: mute},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/WorkloadNoAnswer Ready=Unknown/RollingOut",
		},
		"first pods have not answered within the deadline": {
			facts{desired: 1, rollout: rolloutFailed, fault: mute, missing: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/WorkloadNoAnswer Ready=False/WorkloadNoAnswer",
		},
		"deadline passed for no known reason": {
			facts{desired: 1, rollout: rolloutFailed, missing: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/Starting Ready=False/ProgressDeadlineExceeded",
		},
		"all is well": {
			facts{desired: 2, rollout: rolloutComplete, readyNew: 2},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready",
		},
		"a healthy rollout is not False": {
			facts{desired: 2, rollout: rolloutProgressing, readyOld: 2},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=Unknown/RollingOut",
		},
		"the first new pod makes it Ready": {
			facts{desired: 3, rollout: rolloutProgressing, readyOld: 2, readyNew: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready",
		},
		"a bad image while old pods serve": {
			facts{desired: 2, rollout: rolloutProgressing, readyOld: 2, fault: pull},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=False/ImagePullFailed",
		},
		"a new version that never answers while old pods serve": {
			facts{desired: 2, rollout: rolloutFailed, readyOld: 2},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=False/ProgressDeadlineExceeded",
		},
		"one of two pods is gone": {
			facts{desired: 2, rollout: rolloutComplete, readyNew: 1, missing: 1, fault: mute},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready Degraded=True/ReplicasNotReady",
		},
		"all pods are gone after they were there": {
			facts{desired: 1, rollout: rolloutComplete},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/Starting Ready=False/Starting",
		},
		"one more pod is on its way": {
			facts{desired: 3, rollout: rolloutComplete, readyNew: 2},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready",
		},
		"scaled to zero": {
			facts{desired: 0, rollout: rolloutComplete},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/ScaledToZero Ready=False/ScaledToZero",
		},
		"scaled to zero while the last pod leaves": {
			facts{desired: 0, rollout: rolloutProgressing, readyNew: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=False/ScaledToZero Ready=False/ScaledToZero",
		},
		"a Secret is missing": {
			facts{desired: 1, rollout: rolloutProgressing, fault: gone},
			"Accepted=True/Accepted ResolvedRefs=False/VolumeNotFound Programmed=True/Programmed Available=False/VolumeNotFound Ready=Unknown/RollingOut",
		},
		"a claim is missing": {
			facts{desired: 1, rollout: rolloutProgressing, claimFault: gone},
			"Accepted=True/Accepted ResolvedRefs=False/VolumeNotFound Programmed=True/Programmed Available=False/Starting Ready=Unknown/RollingOut",
		},
		"somebody has the name": {
			facts{desired: 1, rollout: rolloutProgressing, failure: fails(outcome.Conflict, v1alpha1.ReasonNameConflict)},
			"Accepted=False/NameConflict ResolvedRefs=True/ResolvedRefs Programmed=False/NameConflict Available=False/NameConflict Ready=False/NameConflict",
		},
		"an edit that makes no pod while old pods serve": {
			facts{desired: 1, rollout: rolloutProgressing, readyOld: 1, failure: fails(outcome.Invalid, v1alpha1.ReasonInvalidPodTemplate)},
			"Accepted=False/InvalidPodTemplate ResolvedRefs=True/ResolvedRefs Programmed=False/InvalidPodTemplate Available=True/Available Ready=False/InvalidPodTemplate",
		},
		"the server of before is still leaving": {
			facts{desired: 1, rollout: rolloutProgressing, failure: fails(outcome.Waiting, v1alpha1.ReasonWaitingForPrevious)},
			"Accepted=Unknown/WaitingForPrevious ResolvedRefs=True/ResolvedRefs Programmed=Unknown/Pending Available=False/WaitingForPrevious Ready=Unknown/WaitingForPrevious",
		},
		"the API server fails while pods serve": {
			facts{desired: 1, rollout: rolloutComplete, readyNew: 1, failure: fails(outcome.Transient, v1alpha1.ReasonApplyFailed)},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=False/ApplyFailed Available=True/Available Ready=True/Ready",
		},
		"a pod has the old contract": {
			facts{desired: 2, rollout: rolloutComplete, readyNew: 2, lagging: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=False/LiveContractLagging Available=True/Available Ready=True/Ready Degraded=True/LiveContractLagging",
		},
		"a pod refuses the contract": {
			facts{desired: 2, rollout: rolloutComplete, readyNew: 2, lagging: 1, rejected: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=False/LiveContractRejected Available=True/Available Ready=True/Ready Degraded=True/LiveContractRejected",
		},
		"no status can be read, which never changes Ready": {
			facts{desired: 2, rollout: rolloutComplete, readyNew: 2, silent: 2},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=Unknown/StatusUnreachable Available=True/Available Ready=True/Ready Degraded=True/StatusUnreachable",
		},
		"no status was read yet": {
			facts{desired: 1, rollout: rolloutComplete, readyNew: 1, unread: 1},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=Unknown/Pending Available=True/Available Ready=True/Ready",
		},
		"a new pod was not asked yet": {
			facts{desired: 1, rollout: rolloutComplete, readyNew: 1, unread: 1, wasProgrammed: true},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready",
		},
		"an autoscaler is aimed at the Deployment": {
			facts{desired: 1, rollout: rolloutComplete, readyNew: 3, autoscaled: true},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready Degraded=True/ConflictingAutoscaler",
		},
		"the workload can be reached past the sidecar": {
			facts{desired: 1, rollout: rolloutComplete, readyNew: 1, exposed: true},
			"Accepted=True/Accepted ResolvedRefs=True/ResolvedRefs Programmed=True/Programmed Available=True/Available Ready=True/Ready WorkloadExposed=True/ListensOnAllInterfaces",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := verdict(tc.facts)
			var words []string
			for _, c := range got {
				words = append(words, c.Type+"="+string(c.Status)+"/"+c.Reason)
				if c.Message == "" || len(c.Message) > conditions.MaxMessage {
					t.Errorf("message of %s: %q", c.Type, c.Message)
				}
			}
			if s := strings.Join(words, " "); s != tc.want {
				t.Errorf("got  %s\nwant %s", s, tc.want)
			}
		})
	}
}

// O18: what is known so far is said while a rollout is not yet False.
func TestRollingOutSaysWhatIsKnown(t *testing.T) {
	c := ready(facts{desired: 1, rollout: rolloutProgressing, fault: &podfault.Fault{Reason: "X", Message: "It is mute."}})
	if !strings.Contains(c.Message, "It is mute.") {
		t.Error(c.Message)
	}
}

func TestTransitions(t *testing.T) {
	cond := func(typ, status, reason string) metav1.Condition {
		return metav1.Condition{Type: typ, Status: metav1.ConditionStatus(status), Reason: reason, Message: reason + " said."}
	}
	tests := map[string]struct {
		before, after []metav1.Condition
		want          string
	}{
		"nothing changed": {
			before: []metav1.Condition{cond("Ready", "True", "Ready")}, after: []metav1.Condition{cond("Ready", "True", "Ready")},
		},
		"starting is no news": {
			after: []metav1.Condition{cond("Accepted", "True", "Accepted"), cond("Available", "False", "Starting"), cond("Ready", "Unknown", "RollingOut")},
		},
		"good news is normal": {
			before: []metav1.Condition{cond("Available", "False", "Starting"), cond("Ready", "Unknown", "RollingOut")},
			after:  []metav1.Condition{cond("Available", "True", "Available"), cond("Ready", "True", "Ready")},
			want:   "Normal/Available Normal/Ready",
		},
		"one reason in two conditions is told once": {
			after: []metav1.Condition{cond("Available", "False", "ImagePullFailed"), cond("Ready", "False", "ImagePullFailed")},
			want:  "Warning/ImagePullFailed",
		},
		"an advisory condition is a warning": {
			after: []metav1.Condition{cond("Degraded", "True", "ReplicasNotReady")}, want: "Warning/ReplicasNotReady",
		},
		"what was asked for is no warning": {
			after: []metav1.Condition{cond("Available", "False", "ScaledToZero")}, want: "Normal/ScaledToZero",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range transitions(tc.before, tc.after) {
				got = append(got, e.Type+"/"+e.Reason)
			}
			if s := strings.Join(got, " "); s != tc.want {
				t.Errorf("got %q, want %q", s, tc.want)
			}
		})
	}
}
