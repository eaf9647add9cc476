// Package events makes the events that tell a server's story in `kubectl
// describe`: constructors with reason constants, so that every text is here and
// a reason is never spelled twice. It must not know clients; a Recorder sends.
//
// Events are told on transitions only. What is repeated within minutes is
// counted by the recorder instead of stored again: it takes events of the same
// reason and action for the same, whatever their notes say, so the action holds
// what must tell two of them apart.
package events

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/fairlead-dev/fairlead/controllers/internal/conditions"
)

// Reasons of events that are no condition reasons.
const (
	ReasonCreated          = "Created"
	ReasonRestored         = "Restored"
	ReasonRollingOut       = "RollingOut"
	ReasonScaled           = "Scaled"
	ReasonCorrected        = "Corrected"
	ReasonKeysLost         = "KeysLost"
	ReasonRecreateStrategy = "RecreateStrategy"
	ReasonRemoved          = "Removed"
)

// Event is one entry of the story.
type Event struct {
	// Type is corev1.EventTypeNormal or Warning.
	Type string
	// Reason and Action are words in CamelCase.
	Reason, Action string
	// Note is a sentence.
	Note string
}

// Recorder is the part of an events recorder that is used here.
type Recorder interface {
	Eventf(regarding, related runtime.Object, eventtype, reason, action, note string, args ...any)
}

// Send records e about an object.
func Send(r Recorder, about runtime.Object, e Event) {
	// As an argument: a note may hold a percent sign.
	r.Eventf(about, nil, e.Type, e.Reason, e.Action, "%s", conditions.Truncate(e.Note))
}

func normal(reason, action, format string, args ...any) Event {
	return Event{corev1.EventTypeNormal, reason, action, fmt.Sprintf(format, args...)}
}

func warning(reason, action, format string, args ...any) Event {
	return Event{corev1.EventTypeWarning, reason, action, fmt.Sprintf(format, args...)}
}

// Created tells of a first Deployment.
func Created(replicas int32, url string) Event {
	return normal(ReasonCreated, "Create", "Created the pods' Deployment (replicas: %d); clients will find it at %s.", replicas, url)
}

// Restored tells of a child that was made although the pods were there.
func Restored(kind, name string) Event {
	return normal(ReasonRestored, "Create:"+kind, "Created %s %s.", kind, name)
}

// RollingOut tells why pods are replaced: field is the first one that differs,
// "" when the operator's own part did.
func RollingOut(field string) Event {
	if field == "" {
		return normal(ReasonRollingOut, "Upgrade", "Replacing the pods: the operator's own part of them changed.")
	}
	return normal(ReasonRollingOut, "Apply:"+field, "Replacing the pods: %s changed.", field)
}

// Scaled tells of another number of pods.
func Scaled(from, to int32) Event {
	return normal(ReasonScaled, fmt.Sprintf("ScaleTo:%d", to), "Scaled from %d to %d replicas.", from, to)
}

// Corrected tells that somebody else's change of a child was undone.
func Corrected(kind, name string) Event {
	return warning(ReasonCorrected, "Apply:"+kind, "Undid a foreign change of %s %s: it is made from this object.", kind, name)
}

// KeysLost tells that handles that clients hold died with their key (O8).
func KeysLost() Event {
	return warning(ReasonKeysLost, "Create", "The Secret with the handle keys was lost or damaged and was made anew: session ids and other handles that clients hold are no longer valid.")
}

// RecreateStrategy tells why old pods go before new ones come (O25).
func RecreateStrategy(claim string) Event {
	return warning(ReasonRecreateStrategy, "Apply", "Claim %s can be used by one node only, so pods are replaced by stopping the old ones first: the server is away meanwhile.", claim)
}

// Removed tells of a child that the spec does not want any more.
func Removed(kind, name string) Event {
	return normal(ReasonRemoved, "Delete:"+kind, "Removed %s %s.", kind, name)
}

// Transition tells of a condition, by type, that changed.
func Transition(condition string, good bool, reason, message string) Event {
	if good {
		return normal(reason, "Observe:"+condition, "%s", message)
	}
	return warning(reason, "Observe:"+condition, "%s", message)
}
