package mcp

import "slices"

// Offer is which revisions an endpoint serves, in any order. An empty one
// serves all that there are. Names that are no revision are ignored.
type Offer []string

// Has reports whether a revision is known and served.
func (o Offer) Has(revision string) bool {
	_, ok := o.Lookup(revision)
	return ok
}

// Lookup finds a revision that is served.
func (o Offer) Lookup(revision string) (Profile, bool) {
	p, known := Lookup(revision)
	if !known || len(o) > 0 && !slices.Contains(o, revision) {
		return Profile{}, false
	}
	return p, true
}

// Negotiate picks the profile that answers initialize: the requested revision
// when it is served and has a handshake, else the newest such (W4.3). ok is
// false when none is served.
func (o Offer) Negotiate(requested string) (p Profile, ok bool) {
	for _, revision := range o.Legacy() {
		if revision == requested {
			return o.Lookup(revision)
		}
		if !ok {
			p, ok = o.Lookup(revision)
		}
	}
	return p, ok
}

// Revisions lists what is served, newest first.
func (o Offer) Revisions() []string { return o.filter(Revisions()) }

// Modern lists what is served without a handshake, newest first: what -32022
// names as supported, so that a client cannot loop (B2.2).
func (o Offer) Modern() []string { return o.filter(Modern()) }

// Legacy lists what is served with a handshake, newest first.
func (o Offer) Legacy() []string { return o.filter(Legacy()) }

func (o Offer) filter(all []string) []string {
	return slices.DeleteFunc(all, func(revision string) bool { return !o.Has(revision) })
}
