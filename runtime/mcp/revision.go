package mcp

import "github.com/fairlead-dev/fairlead/runtime/internal/broken"

// The protocol revisions, oldest first.
const (
	Revision20241105 = "2024-11-05"
	Revision20250326 = "2025-03-26"
	Revision20250618 = "2025-06-18"
	Revision20251125 = "2025-11-25"
	Revision20260728 = "2026-07-28"
)

// AssumedRevision is what a request without a version header and without a
// session is taken for (W11.2).
const AssumedRevision = Revision20250326

// Priming is how the first event of an event stream with ids looks (P3).
type Priming uint8

// The priming forms.
const (
	// PrimeNone: no priming, the stream has no ids.
	PrimeNone Priming = iota
	// PrimeNamed: an event with a name that clients skip and data `{}`,
	// because older clients choke on empty data (W9.4).
	PrimeNamed
	// PrimeEmpty: an event with an id and empty data.
	PrimeEmpty
)

// Profile says what a revision has, whatever it travels on. Profiles are
// values of one table and never change.
type Profile struct {
	// Revision is the wire name; the zero Profile has none.
	Revision string
	// Handshake: initialize, sessions, ping, requests of the server (legacy).
	// Without it every request carries its own metadata (modern).
	Handshake bool
	// Batches: JSON arrays are messages (W12.1).
	Batches bool
	// ReverseCalls: the server sends requests of its own (W1.11, W1.12).
	ReverseCalls bool
	// NullErrorID: an answer to a request that could not be read carries
	// id null; otherwise it carries none (W1.8, P34).
	NullErrorID bool
	// ResultType: every result names its kind (W3.1).
	ResultType bool
	// CachingHints: ttlMs and cacheScope on the methods that have them (W34.1).
	CachingHints bool
	// ServerInfoMeta: results carry the server's identity in _meta (W3.4).
	ServerInfoMeta bool
	// StrictErrors: codes that the revision retired or reserved may not be
	// sent (W2.4, W2.5).
	StrictErrors bool
	// ProgressMessage: progress may carry a message (W20.4).
	ProgressMessage bool
	// CompletionContext: completion/complete may carry a context (W28.3).
	CompletionContext bool
	// StructuredOutput: tool results may carry structuredContent (W24.10).
	StructuredOutput bool
	// ElicitationModes: elicitation is declared per mode (W30.1).
	ElicitationModes bool
	// ToolAnnotations and AudioContent came with 2025-03-26 (W24.10).
	ToolAnnotations, AudioContent bool
	// Titles: items have a title and _meta, and content may be a resource
	// link (W24.10).
	Titles, ResourceLinks bool
	// Icons: items have icons, implementations a website (W24.10, W37.4).
	Icons bool
	// InputErrorsInResult: arguments that do not fit are a tool result that
	// says so, no protocol error (W24.11).
	InputErrorsInResult bool
	// SamplingTools: sampling may carry tools, and content may be an array
	// (W29.3, W29.8).
	SamplingTools bool
	// RichEnums: choices have titles by oneOf, and several may be chosen
	// (W30.4).
	RichEnums bool
	// ElicitationIDs: an elicitation by URL has an id, its end can be told,
	// and an error may ask for it (W30.3, W30.13, W30.14).
	ElicitationIDs bool
	// AnyOutput: structured content may be any JSON value (W24.7).
	AnyOutput bool
	// index is the position in the table.
	index int
}

var profiles = [...]Profile{
	{Revision: Revision20241105, Handshake: true, ReverseCalls: true, NullErrorID: true},
	{Revision: Revision20250326, Handshake: true, ReverseCalls: true, NullErrorID: true, Batches: true, ProgressMessage: true, ToolAnnotations: true, AudioContent: true},
	{Revision: Revision20250618, Handshake: true, ReverseCalls: true, NullErrorID: true, ProgressMessage: true, CompletionContext: true, StructuredOutput: true,
		ToolAnnotations: true, AudioContent: true, Titles: true, ResourceLinks: true},
	{Revision: Revision20251125, Handshake: true, ReverseCalls: true, ProgressMessage: true, CompletionContext: true, StructuredOutput: true, ElicitationModes: true,
		ToolAnnotations: true, AudioContent: true, Titles: true, ResourceLinks: true, Icons: true, InputErrorsInResult: true, SamplingTools: true, RichEnums: true, ElicitationIDs: true},
	{Revision: Revision20260728, ResultType: true, CachingHints: true, ServerInfoMeta: true, StrictErrors: true, ProgressMessage: true, CompletionContext: true, StructuredOutput: true, ElicitationModes: true,
		ToolAnnotations: true, AudioContent: true, Titles: true, ResourceLinks: true, Icons: true, InputErrorsInResult: true, SamplingTools: true, RichEnums: true, AnyOutput: true},
}

// at is the i-th profile, which knows its place.
func at(i int) Profile {
	p := profiles[i]
	p.index = i
	return p
}

// Lookup finds a revision.
func Lookup(revision string) (Profile, bool) {
	for i := range profiles {
		if profiles[i].Revision == revision {
			return at(i), true
		}
	}
	return Profile{}, false
}

// Revisions lists all revisions, newest first.
func Revisions() []string { return list(func(Profile) bool { return true }) }

// Modern lists the revisions without a handshake, newest first: what -32022
// names as supported, so that a client cannot loop (B2.2).
func Modern() []string { return list(func(p Profile) bool { return !p.Handshake }) }

// Legacy lists the revisions with a handshake, newest first.
func Legacy() []string { return list(func(p Profile) bool { return p.Handshake }) }

func list(want func(Profile) bool) []string {
	var out []string
	for i := len(profiles) - 1; i >= 0; i-- {
		if want(at(i)) {
			out = append(out, profiles[i].Revision)
		}
	}
	return out
}

// Negotiate picks the profile that answers initialize: the requested revision
// when it has a handshake, else the newest that has one (W4.3). It never
// answers with a revision without handshake.
func Negotiate(requested string) Profile {
	if broken.Rule("W4.3") {
		return at(len(profiles) - 1)
	}
	var newest Profile
	for i := range profiles {
		p := at(i)
		if !p.Handshake {
			continue
		}
		if p.Revision == requested {
			return p
		}
		newest = p
	}
	return newest
}

// ClaimsModern reports whether a version header announces a revision without a
// handshake: one that we know, or a newer one that we do not.
func ClaimsModern(header string) bool {
	if p, ok := Lookup(header); ok {
		return !p.Handshake
	}
	newest := profiles[len(profiles)-1].Revision
	return isDate(header) && header > newest
}

func isDate(text string) bool {
	if len(text) != len("2006-01-02") {
		return false
	}
	for i := range len(text) {
		if i == 4 || i == 7 {
			if text[i] != '-' {
				return false
			}
		} else if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
