package main

import (
	"errors"
	"fmt"
	"io/fs"
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
	var files []string
	for _, revisions := range slices.Sorted(maps.Keys(under)) {
		if w := under[revisions]; w.recorded {
			files = append(files, filepath.Join(w.dir, recording))
		}
	}
	for _, j := range jobs {
		if j.Set.Leg == suite.ClientLeg {
			files = append(files, filepath.Join(j.Dir, recording))
		}
	}
	for _, file := range files {
		lines, err := record.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			verdict.Fail(nil, "schemas", "nothing was recorded", file)
			continue
		}
		if err != nil {
			return err
		}
		for _, v := range judge.Check(lines) {
			verdict.Fail(nil, "schemas", fmt.Sprintf("a %s of %s (%s) %s\n%s", v.What, v.Revision, v.Method, v.Reason, v.Message), file)
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
	if total == 0 && len(files) > 0 {
		verdict.Fail(nil, "schemas", "no message was judged: the recording is empty", "")
	}
	return nil
}
