package suite

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Status is the outcome of one check.
type Status string

// What the suite writes. Only the first two say that something is wrong.
const (
	Failure Status = "FAILURE"
	Warning Status = "WARNING"
	Success Status = "SUCCESS"
	Skipped Status = "SKIPPED"
	Info    Status = "INFO"
)

// Check is one line of a checks.json.
type Check struct {
	ID           string          `json:"id"`
	Description  string          `json:"description"`
	Status       Status          `json:"status"`
	ErrorMessage string          `json:"errorMessage"`
	Details      json.RawMessage `json:"details"`
}

// Bad reports whether the check says that something is wrong.
func (c *Check) Bad() bool { return c.Status == Failure || c.Status == Warning }

// stamp is what the suite appends to the folder of one scenario's run.
var stamp = regexp.MustCompile(`-\d{4}-\d{2}-\d{2}T\d{2}-\d{2}-\d{2}-\d{3}Z$`)

// Results reads every checks.json below dir, the folder of a run of the leg, by
// scenario. A file that cannot be read is an error: what was not read did not
// pass.
func Results(dir string, leg Leg) (map[string]Found, error) {
	out := map[string]Found{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.Name() != "checks.json" {
			return err
		}
		name, err := scenarioOf(dir, path, leg)
		if err != nil {
			return err
		}
		var checks []Check
		if err := readJSON(path, &checks); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if _, twice := out[name]; twice {
			return fmt.Errorf("%s: %s has a second result", path, name)
		}
		out[name] = Found{Checks: checks, File: path}
		return nil
	})
	return out, err
}

// scenarioOf undoes what the suite makes of a scenario's name: a folder (a
// slash in it makes two), with the time behind it and, of servers, the leg
// before it.
func scenarioOf(dir, file string, leg Leg) (string, error) {
	rel, err := filepath.Rel(dir, filepath.Dir(file))
	if err != nil {
		return "", err
	}
	name := stamp.ReplaceAllString(filepath.ToSlash(rel), "")
	if leg == ServerLeg {
		name = strings.TrimPrefix(name, string(ServerLeg)+"-")
	}
	return name, nil
}

// Found is what a run left of one scenario.
type Found struct {
	Checks []Check
	File   string
}
