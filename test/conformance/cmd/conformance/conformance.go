package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/fairlead-dev/fairlead/test/conformance/report"
	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

// recording is the file of a process's recorded messages.
const recording = "messages.jsonl"

// conformance runs everything and reports whether all of it holds. An error
// means that it could not be found out.
func conformance(ctx context.Context, o options) (ok bool, err error) {
	in, err := suite.Open(o.suite)
	if err != nil {
		return false, err
	}
	exceptions, err := report.ReadExceptions(o.exceptions)
	if err != nil {
		return false, err
	}
	if err := os.RemoveAll(o.dir); err != nil {
		return false, err
	}
	jobs, err := plan(ctx, in, &o)
	if err != nil {
		return false, err
	}
	servers := servers{}
	defer func() { err = errors.Join(err, servers.stop()) }()
	if err := servers.start(ctx, &o, jobs); err != nil {
		return false, err
	}
	verdict := report.NewVerdict(exceptions)
	if err := execute(ctx, in, &o, jobs, verdict); err != nil {
		return false, err
	}
	verdict.Close()
	// Only an ended process has written down all that it sent.
	if err := servers.stop(); err != nil {
		verdict.Fail(nil, "workload", err.Error(), o.dir)
	}
	if err := judgeMessages(servers, jobs, verdict); err != nil {
		return false, err
	}
	return conclude(in, &o, verdict)
}

// execute runs the jobs, some at the same time, and judges them in their order.
func execute(ctx context.Context, in *suite.Install, o *options, jobs []job, verdict *report.Verdict) error {
	type outcome struct {
		code int
		err  error
		took time.Duration
	}
	outcomes := make([]outcome, len(jobs))
	group := &errgroup.Group{}
	group.SetLimit(max(o.parallel, 1))
	for i, j := range jobs {
		group.Go(func() error {
			start := time.Now()
			if outcomes[i].err = j.failed; j.failed == nil {
				code, err := in.Run(ctx, j.Job)
				outcomes[i] = outcome{code, err, time.Since(start)}
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, j := range jobs {
		before := len(verdict.Findings)
		out := outcomes[i]
		if j.failed == nil {
			results, err := suite.Results(j.Dir, j.Set.Leg)
			if err != nil {
				return err
			}
			verdict.Add(j.Set, j.wanted, results)
		}
		output := o.outputOf(&j)
		switch {
		case out.err != nil:
			verdict.Fail(j.Set, j.Only, out.err.Error(), output)
		case j.Set.Leg == suite.ClientLeg && out.code != 0 && len(verdict.Findings) == before && len(verdict.Exceptions()) == 0:
			verdict.Fail(j.Set, j.Only, "all checks hold, but the client under test failed or did not end", output)
		}
		name := j.Only
		if name == "" {
			name = fmt.Sprintf("%d scenarios", len(j.wanted))
		}
		fmt.Printf("  %-30s %-40s %5.1f s  %s\n", j.Set.Key(), name, out.took.Seconds(), passed(len(verdict.Findings)-before))
	}
	return nil
}

func passed(findings int) string {
	if findings == 0 {
		return "ok"
	}
	return fmt.Sprintf("%d FAILED", findings)
}

// conclude says what came out and writes the page.
func conclude(in *suite.Install, o *options, v *report.Verdict) (bool, error) {
	for _, f := range v.Findings {
		fmt.Print("\n", f)
	}
	n, passed, skipped, excepted := report.Totals(v.Rows)
	fmt.Printf("\nconformance: %d scenarios: %d checks passed, %d failed or warned, %d excepted, %d skipped by the suite\n",
		n, passed, len(v.Findings), excepted, skipped)
	if len(v.Findings) > 0 {
		return false, nil
	}
	switch {
	case o.page == "", !o.whole(), !o.check && !o.full():
		return true, nil
	}
	page := v.Page(report.Header{Suite: in.Version, Node: in.Node, Exceptions: len(v.Exceptions()), Switches: switches()})
	if !o.check {
		return true, os.WriteFile(o.page, []byte(page), 0o644)
	}
	old, err := os.ReadFile(o.page)
	if err != nil {
		return false, err
	}
	line := report.FirstDifference(string(old), page)
	if !o.full() {
		line = v.Difference(string(old))
	}
	if line != "" {
		fmt.Printf("\nconformance: %s is not what came out now; run `make conformance` and look at the difference, from here on:\n%s\n", o.page, line)
		return false, nil
	}
	return true, nil
}
