package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

// notRequired begins the client scenarios that are not run: they want a whole
// OAuth client, which is a later step (P30).
const notRequired = "auth/"

// frozen are the revisions with a requirement set, listed those without one.
var (
	frozen = []string{"2025-11-25", "2026-07-28"}
	listed = []string{"2025-06-18"}
)

// job is one process of the suite and the scenarios it must leave results of.
type job struct {
	suite.Job
	wanted []suite.Scenario
	// failed is why the server under test is not there.
	failed error
}

// plan returns the sets that were asked for and the jobs that run them. The
// server's requirement sets run whole, as the suite defines them.
func plan(ctx context.Context, in *suite.Install, o *options) ([]job, error) {
	all, err := sets(ctx, in)
	if err != nil {
		return nil, err
	}
	if all, err = through(all, o.via); err != nil {
		return nil, err
	}
	var jobs []job
	for _, set := range all {
		if len(o.sets) > 0 && !slices.Contains(o.sets, set.Key()) {
			continue
		}
		base := suite.Job{Set: set, Timeout: o.timeout}
		if set.Leg == suite.ServerLeg && len(o.only) == 0 {
			base.Dir = o.path(set.Key())
			jobs = append(jobs, job{Job: base, wanted: set.Scenarios})
			continue
		}
		for _, sc := range set.Scenarios {
			if len(o.only) > 0 && !slices.Contains(o.only, sc.Name) {
				continue
			}
			one := base
			one.Only = sc.Name
			one.Dir = o.path(set.Key(), strings.ReplaceAll(sc.Name, "/", "_"))
			one.Command = o.client + " -record " + path.Join(one.Dir, recording)
			jobs = append(jobs, job{Job: one, wanted: []suite.Scenario{sc}})
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("nothing to run: no set of %q has a scenario of %q", o.sets, o.only)
	}
	return jobs, nil
}

// backs are the builds of the workload that a sidecar is put in front of, direct
// stands for none.
var backs = []string{"legacy-http", "legacy-stdio", "modern-http", "modern-stdio"}

const direct = "direct"

// through returns the sets to run: as they are, and the requirement sets of
// servers once for every back.
func through(own []*suite.Set, via []string) ([]*suite.Set, error) {
	switch {
	case len(via) == 0:
		via = append([]string{direct}, backs...)
	case slices.Equal(via, []string{"all"}):
		via = backs
	}
	var out []*suite.Set
	for _, back := range via {
		if back == direct {
			out = append(out, own...)
			continue
		}
		if !slices.Contains(backs, back) {
			return nil, fmt.Errorf("-via %q: there are %q, all, and %s", back, backs, direct)
		}
		for _, set := range own {
			if set.Leg == suite.ServerLeg && set.Required {
				copied := *set
				copied.Via = back
				out = append(out, &copied)
			}
		}
	}
	return out, nil
}

// sets returns all sets that concern us, without the scenarios that do not.
func sets(ctx context.Context, in *suite.Install) ([]*suite.Set, error) {
	var out []*suite.Set
	for _, leg := range []suite.Leg{suite.ServerLeg, suite.ClientLeg} {
		for _, revision := range frozen {
			set, err := in.Requirements(revision, leg)
			if err != nil {
				return nil, err
			}
			out = append(out, set)
		}
		for _, revision := range listed {
			set, err := in.Of(ctx, revision, leg)
			if err != nil {
				return nil, err
			}
			out = append(out, set)
			if leg == suite.ServerLeg {
				alone := *set
				alone.Alone = true
				out = append(out, &alone)
			}
		}
	}
	for _, set := range out {
		set.Scenarios = slices.DeleteFunc(set.Scenarios, func(s suite.Scenario) bool {
			return set.Leg == suite.ClientLeg && strings.HasPrefix(s.Name, notRequired)
		})
	}
	return out, nil
}
