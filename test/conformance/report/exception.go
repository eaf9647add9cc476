package report

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// MaxExceptions is how many checks may be excepted at most: more would make the
// suite say what we like.
const MaxExceptions = 5

// Exception is a check that may fail because the suite is wrong.
type Exception struct {
	// Via limits it to sets whose Via is this or begins with this and a dash;
	// empty: to those of the server itself.
	Via             string
	Scenario, Check string
	// Fault is what is wrong upstream; a person reads it in the table.
	Fault string
}

func (e Exception) String() string {
	name := e.Scenario + ":" + e.Check
	if e.Via != "" {
		name = e.Via + "/" + name
	}
	return name
}

// in reports whether it is about a set with this Via.
func (e Exception) in(via string) bool {
	return e.Via == via || e.Via != "" && strings.HasPrefix(via, e.Via+"-")
}

// ReadExceptions reads a file of lines "scenario:check-id what is wrong
// upstream", or "via/scenario:check-id why" for those through a sidecar. Empty
// lines and lines that begin with # are comments.
func ReadExceptions(name string) ([]Exception, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	out, err := parseExceptions(string(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

func parseExceptions(text string) ([]Exception, error) {
	var out []Exception
	seen := map[string]bool{}
	var errs []error
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, fault, _ := strings.Cut(line, " ")
		scenario, check, ok := strings.Cut(name, ":")
		via, inner, _ := strings.Cut(scenario, "/")
		if era, _, _ := strings.Cut(via, "-"); era == "legacy" || era == "modern" {
			scenario = inner
		} else {
			via = "" // the slash, if any, is the scenario's
		}
		fault = strings.TrimSpace(fault)
		switch {
		case !ok || scenario == "" || check == "":
			errs = append(errs, fmt.Errorf("line %d: %q is no scenario:check-id", n, name))
		case fault == "":
			errs = append(errs, fmt.Errorf("line %d: %s does not say what is wrong upstream", n, name))
		case seen[name]:
			errs = append(errs, fmt.Errorf("line %d: %s is there twice", n, name))
		default:
			out = append(out, Exception{Via: via, Scenario: scenario, Check: check, Fault: fault})
		}
		seen[name] = true
	}
	if len(out) > MaxExceptions {
		errs = append(errs, fmt.Errorf("%d exceptions, %d are allowed", len(out), MaxExceptions))
	}
	return out, errors.Join(errs...)
}
