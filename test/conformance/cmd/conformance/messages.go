package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/report"
	"github.com/fairlead-dev/fairlead/test/conformance/suite"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
)

// outputOf is the file a person reads when a job says nothing else.
func (o *options) outputOf(j *job) string { return filepath.Join(j.Dir, "output") }

// judgeMessages validates what the server and the clients sent by the schemas
// of the protocol. Without them it says so: that is not a pass.
func judgeMessages(under servers, jobs []job, verdict *report.Verdict) error {
	dir, err := wireschema.Find(".")
	if err != nil {
		return err
	}
	if dir == "" {
		fmt.Printf("schemas: NOT RUN: no folder mcp-schema beside the repository, and %s is not set\n", wireschema.FolderVariable)
		return nil
	}
	judge, err := wireschema.New(dir)
	if err != nil {
		return err
	}
	var all []recorded
	for _, name := range slices.Sorted(maps.Keys(under)) {
		all = append(all, under[name].recordings...)
	}
	for _, j := range jobs {
		if j.Set.Leg == suite.ClientLeg {
			all = append(all, recorded{filepath.Join(j.Dir, recording), record.Ours})
		}
	}
	broken, err := brokenByPeers(dir, all)
	if err != nil {
		return err
	}
	for _, r := range all {
		found, err := filepath.Glob(r.pattern)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			verdict.Fail(nil, "schemas", "nothing was recorded", r.pattern)
		}
		for _, file := range found {
			lines, err := r.read(file)
			if err != nil {
				return err
			}
			for _, v := range judge.Check(lines) {
				if r.side == record.Theirs && broken[v.Method+v.Reason] {
					continue
				}
				verdict.Fail(nil, "schemas", fmt.Sprintf("a %s of %s (%s) %s\n%s", v.What, v.Revision, v.Method, v.Reason, v.Message), file)
			}
		}
	}
	total := 0
	for _, c := range judge.Counts() {
		total += c.Messages
		note := ""
		if !c.Exact {
			note = " (envelope only: without a definition of its own, or without an id)"
		}
		fmt.Printf("schemas: %s %-12s %5d%s\n", c.Revision, c.What, c.Messages, note)
	}
	fmt.Printf("schemas: %d messages that we sent were judged\n", total)
	if total == 0 && len(all) > 0 {
		verdict.Fail(nil, "schemas", "no message was judged: the recording is empty", "")
	}
	return nil
}

// read returns a recording as whose side is judged sees it.
func (r *recorded) read(file string) ([]record.Line, error) {
	lines, err := record.Read(file)
	if r.side == record.Theirs {
		lines = record.Swapped(lines)
	}
	return lines, err
}

// brokenByPeers is what the clients of servers sent wrong, on purpose: a
// sidecar passes requests on as they came (B0.2), for the workload to refuse.
func brokenByPeers(schemas string, all []recorded) (map[string]bool, error) {
	judge, err := wireschema.New(schemas)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, r := range all {
		if r.side != record.Ours {
			continue
		}
		files, err := filepath.Glob(r.pattern)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			lines, err := record.Read(file)
			if err != nil {
				return nil, err
			}
			for _, v := range judge.Check(record.Swapped(lines)) {
				out[v.Method+v.Reason] = true
			}
		}
	}
	return out, nil
}
