package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// breakTag builds the product so that it looks at breakVariable.
	breakTag = "breakrules"
	// breakVariable names the rule to break.
	breakVariable = "FAIRLEAD_BREAK"
	// fewestBroken is how many rules must be breakable, fewestOfBridge how many
	// of the sidecar's.
	fewestBroken   = 20
	fewestOfBridge = 10
	// testTime bounds one run; a test that hangs on a broken rule has failed.
	testTime = 60 * time.Second
)

// breakable is one line of test/broken.tsv: a rule, the package whose tests
// notice, and those tests.
type breakable struct{ rule, pkg, tests string }

// checkBreakable sees that the tests of each breakable rule are tests that name
// the rule: others would notice by chance.
func checkBreakable(list []breakable, found *testIndex) []error {
	var problems []error
	for _, b := range list {
		for _, test := range strings.Fields(b.tests) {
			if name := b.pkg + "." + test; !slices.Contains(found.byRule[b.rule], name) {
				problems = append(problems, fmt.Errorf("%s: can be broken, but %s does not name it", b.rule, name))
			}
		}
	}
	return problems
}

// breakRules builds each package with the tag once, runs the named tests
// whole, which must pass, and once for each rule broken, which must fail.
func breakRules(root string) error {
	list, err := readBreakable(filepath.Join(root, "test", "broken.tsv"))
	if err != nil {
		return err
	}
	bin, err := os.MkdirTemp("", "rules")
	if err != nil {
		return err
	}
	defer os.RemoveAll(bin)
	var problems []error
	for i, b := range list {
		test := filepath.Join(bin, strings.ReplaceAll(b.pkg, "/", "_"))
		if !slices.ContainsFunc(list[:i], func(old breakable) bool { return old.pkg == b.pkg }) {
			build := exec.Command("go", "test", "-c", "-tags", breakTag, "-o", test, "./"+b.pkg)
			build.Dir = root
			if out, err := build.CombinedOutput(); err != nil {
				return fmt.Errorf("build the tests of %s: %w\n%s", b.pkg, err, out)
			}
		}
		if err := b.run(root, test); err != nil {
			problems = append(problems, err)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return err
	}
	fmt.Printf("%d rules broken on purpose, each noticed by its tests\n", len(list))
	return nil
}

func (b breakable) run(root, test string) error {
	if out, err := b.command(root, test, "").CombinedOutput(); err != nil {
		return fmt.Errorf("%s: its tests fail although no rule is broken: %w\n%s", b.rule, err, out)
	} else if strings.Contains(string(out), "no tests to run") {
		return fmt.Errorf("%s: %s has no test %s", b.rule, b.pkg, b.tests)
	}
	if err := b.command(root, test, b.rule).Run(); err == nil {
		return fmt.Errorf("%s: broken, but %s of %s passes", b.rule, b.tests, b.pkg)
	}
	fmt.Printf("%s broken: %s of %s fails\n", b.rule, b.tests, b.pkg)
	return nil
}

func (b breakable) command(root, test, rule string) *exec.Cmd {
	cmd := exec.Command(test, "-test.run", "^("+strings.ReplaceAll(b.tests, " ", "|")+")$", "-test.timeout", testTime.String())
	cmd.Dir = filepath.Join(root, b.pkg)
	cmd.Env = append(os.Environ(), breakVariable+"="+rule)
	return cmd
}

func readBreakable(path string) ([]breakable, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []breakable
	rules, ofBridge := map[string]bool{}, map[string]bool{}
	for i, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cols := strings.Split(line, "\t")
		if len(cols) != 3 {
			return nil, fmt.Errorf("%s:%d: %d columns, want rule, package, tests", path, i+1, len(cols))
		}
		list = append(list, breakable{cols[0], cols[1], cols[2]})
		rules[cols[0]] = true
		if strings.HasPrefix(cols[1], "sidecar/") {
			ofBridge[cols[0]] = true
		}
	}
	if len(rules) < fewestBroken {
		return nil, fmt.Errorf("%s: %d rules can be broken, want at least %d", path, len(rules), fewestBroken)
	}
	if len(ofBridge) < fewestOfBridge {
		return nil, fmt.Errorf("%s: %d rules of the bridge can be broken, want at least %d", path, len(ofBridge), fewestOfBridge)
	}
	return list, nil
}
