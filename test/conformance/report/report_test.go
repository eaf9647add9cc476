package report

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/test/conformance/suite"
)

var update = flag.Bool("update", false, "rewrite goldens")

func TestExceptionsAreFewAndExplained(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want string // in the error; empty: none
	}{
		"a line with its fault":       {"# why\n\na:b the suite sends no id\n", ""},
		"a line without a fault":      {"a:b\n", "does not say"},
		"a scenario as a whole":       {"a everything is wrong\n", "no scenario:check-id"},
		"a line that is there twice":  {"a:b x\na:b y\n", "twice"},
		"one more than there may be":  {strings.Repeat("a:b x\n", 0) + "a:1 x\na:2 x\na:3 x\na:4 x\na:5 x\na:6 x\n", "5 are allowed"},
		"as many as there may be":     {"a:1 x\na:2 x\na:3 x\na:4 x\na:5 x\n", ""},
		"a check id with a dollar":    {"a:json-$schema x\n", ""},
		"a name with nothing behind":  {"a: x\n", "no scenario:check-id"},
		"a name with nothing before":  {":b x\n", "no scenario:check-id"},
		"a scenario that has a slash": {"auth/a:b x\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseExceptions(test.text)
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

var (
	server = &suite.Set{Revision: "2026-07-28", Leg: suite.ServerLeg, Required: true}
	listed = &suite.Set{Revision: "2025-06-18", Leg: suite.ServerLeg}
)

func found(checks ...suite.Check) suite.Found { return suite.Found{Checks: checks, File: "f"} }

func check(id string, s suite.Status) suite.Check {
	return suite.Check{ID: id, Status: s, ErrorMessage: "message of " + id}
}

// P30
func TestEveryCheckCounts(t *testing.T) {
	scenarios := []suite.Scenario{{Name: "a"}, {Name: "tasks", Unscored: "extension"}}
	ok := map[string]suite.Found{"a": found(check("x", suite.Success)), "tasks": found(check("y", suite.Success))}
	for name, test := range map[string]struct {
		results map[string]suite.Found
		except  []Exception
		want    []string
	}{
		"all passes": {ok, nil, nil},
		"a failure of a scenario that is not scored": {
			map[string]suite.Found{"a": ok["a"], "tasks": found(check("y", suite.Failure))}, nil, []string{"tasks:y"},
		},
		"a warning": {
			map[string]suite.Found{"a": found(check("x", suite.Warning)), "tasks": ok["tasks"]}, nil, []string{"a:x"},
		},
		"a check that fails once and passes once": {
			map[string]suite.Found{"a": found(check("x", suite.Failure), check("x", suite.Success)), "tasks": ok["tasks"]}, nil, []string{"a:x"},
		},
		"a scenario without a result": {map[string]suite.Found{"a": ok["a"]}, nil, []string{"tasks:"}},
		"a failure that is excepted": {
			map[string]suite.Found{"a": found(check("x", suite.Failure)), "tasks": ok["tasks"]}, []Exception{{Scenario: "a", Check: "x", Fault: "wrong"}}, nil,
		},
		"another failure of the same scenario": {
			map[string]suite.Found{"a": found(check("z", suite.Failure)), "tasks": ok["tasks"]}, []Exception{{Scenario: "a", Check: "x", Fault: "wrong"}}, []string{"a:z", "a:x"},
		},
		"an exception that is not needed":             {ok, []Exception{{Scenario: "a", Check: "x", Fault: "wrong"}}, []string{"a:x"}},
		"an exception of a scenario that did not run": {ok, []Exception{{Scenario: "b", Check: "x", Fault: "wrong"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := NewVerdict(test.except)
			v.Add(server, scenarios, test.results)
			v.Close()
			var got []string
			for _, f := range v.Findings {
				got = append(got, f.Scenario+":"+f.Check)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
		})
	}
}

// P31
func TestExceptionsForOneSideOfTheBridgeStayThere(t *testing.T) {
	except, err := parseExceptions("modern/a:x no such thing there\n")
	if err != nil {
		t.Fatal(err)
	}
	for via, want := range map[string]int{"modern-http": 0, "modern-stdio": 0, "modern": 0, "legacy-http": 1, "modernish-http": 1, "": 1} {
		set := *server
		set.Via = via
		v := NewVerdict(except)
		v.Add(&set, []suite.Scenario{{Name: "a"}}, map[string]suite.Found{"a": found(check("x", suite.Failure))})
		v.Close()
		if len(v.Findings) != want {
			t.Errorf("via %q: %d findings, want %d: %v", via, len(v.Findings), want, v.Findings)
		}
	}
}

func TestAFindingSaysWhatToDo(t *testing.T) {
	v := NewVerdict(nil)
	v.Add(server, []suite.Scenario{{Name: "a"}}, map[string]suite.Found{"a": found(check("x", suite.Failure))})
	got := v.Findings[0].String()
	for _, want := range []string{"FAILURE 2026-07-28/server a:x", "message of x", "details: f", "make conformance ARGS='-set 2026-07-28/server -only a'"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

func TestPageSaysWhatPassed(t *testing.T) {
	v := NewVerdict([]Exception{{Scenario: "a", Check: "z", Fault: "the suite asks for what the revision forbids"}})
	v.Add(server, []suite.Scenario{{Name: "a"}, {Name: "tasks", Unscored: "extension"}}, map[string]suite.Found{
		"a":     found(check("x", suite.Success), check("x", suite.Success), check("y", suite.Info), check("z", suite.Failure)),
		"tasks": found(check("t", suite.Skipped)),
	})
	v.Add(listed, []suite.Scenario{{Name: "a"}}, map[string]suite.Found{"a": found(check("x", suite.Success))})
	for _, via := range []string{"legacy-http", "modern-stdio"} {
		v.Add(through(server, via), []suite.Scenario{{Name: "a"}, {Name: "tasks", Unscored: "extension"}}, map[string]suite.Found{
			"a": found(check("x", suite.Success)), "tasks": found(check("t", suite.Skipped), check("u", suite.Success)),
		})
	}
	v.Close()
	got := v.Page(Header{Suite: "1.2.3", Node: "4.5.6", Exceptions: 1, Switches: []string{"legacy-http: `mcp-sidecar run --x`"}})
	golden := filepath.Join("testdata", "page.md")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("page (-want +got); run with -update if it should be so\n%s", diff)
	}
}

// through is a set behind the sidecar.
func through(of *suite.Set, via string) *suite.Set {
	set := *of
	set.Via = via
	return &set
}

func TestAPageIsComparedWithWhatRan(t *testing.T) {
	verdict := func(x suite.Status, vias ...string) *Verdict {
		v := NewVerdict(nil)
		for _, via := range vias {
			v.Add(through(server, via), []suite.Scenario{{Name: "a"}}, map[string]suite.Found{"a": found(check("x", x), check("y", suite.Success))})
		}
		return v
	}
	page := verdict(suite.Success, "", "legacy-http", "modern-http").Page(Header{})
	for name, test := range map[string]struct {
		v    *Verdict
		want string // in what it says
	}{
		"everything":                     {verdict(suite.Success, "", "legacy-http", "modern-http"), ""},
		"the server alone":               {verdict(suite.Success, ""), ""},
		"one build alone":                {verdict(suite.Success, "modern-http"), ""},
		"a check that did not run":       {verdict(suite.Skipped, ""), "| 1 | 1 | 1 | 0 |"},
		"one of a build":                 {verdict(suite.Skipped, "modern-http"), "in front of modern-http"},
		"a build that the page lacks":    {verdict(suite.Success, "modern-stdio"), "the page has no line"},
		"another scenario, the same sum": {func() *Verdict { v := verdict(suite.Success, ""); v.Rows[0].Scenario.Name = "b"; return v }(), "- | a |"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.v.Difference(page); (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q in it", got, test.want)
			}
		})
	}
}

func TestFirstDifferenceIsShown(t *testing.T) {
	for name, test := range map[string]struct{ before, now, want string }{
		"equal":         {"a\nb\n", "a\nb\n", ""},
		"a line":        {"a\nb\n", "a\nc\n", "  line 2\n  - b\n  + c"},
		"more than was": {"a", "a\nb", "  line 2\n  - (end)\n  + b"},
		"less than was": {"a\nb", "a", "  line 2\n  - b\n  + (end)"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := FirstDifference(test.before, test.now); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
