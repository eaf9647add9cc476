package suite

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Leg is what is tested.
type Leg string

// The two legs of the suite that concern us.
const (
	ServerLeg Leg = "server"
	ClientLeg Leg = "client"
)

// Scenario is one scenario of a set.
type Scenario struct {
	Name string
	// Unscored is why the suite itself does not count it (extension, pending,
	// added-after-release); empty when it does. We count it all the same.
	Unscored string
}

// Set is the scenarios of one revision and leg, in the suite's order.
type Set struct {
	Revision string
	Leg      Leg
	// Required tells a frozen requirement set from what a revision merely has.
	Required bool
	// Alone: the server is one that serves only this revision. The suite's own
	// client offers its newest one whatever it is told, so this is how it
	// comes to speak an older one.
	Alone bool
	// Via names what stands behind the sidecar when the server under test is
	// one, e.g. "modern-stdio"; empty: the server itself is tested.
	Via       string
	Scenarios []Scenario
}

// Key names the set among all: what a person selects it by, and its folder.
func (s *Set) Key() string {
	key := s.Revision
	if s.Alone {
		key += "-alone"
	}
	key += "/" + string(s.Leg)
	if s.Via != "" {
		key = s.Via + "/" + key
	}
	return key
}

// Names returns the names of the set's scenarios.
func (s *Set) Names() []string {
	out := make([]string, len(s.Scenarios))
	for i, sc := range s.Scenarios {
		out[i] = sc.Name
	}
	return out
}

// Requirements reads the frozen requirement set of a revision.
func (in *Install) Requirements(revision string, leg Leg) (*Set, error) {
	data, err := os.ReadFile(filepath.Join(in.dir, "requirements", revision+".yaml"))
	if err != nil {
		return nil, err
	}
	set, err := parseRequirements(data, leg)
	if err != nil {
		return nil, fmt.Errorf("requirements of %s: %w", revision, err)
	}
	set.Revision = revision
	return set, nil
}

func parseRequirements(data []byte, leg Leg) (*Set, error) {
	var file struct {
		Server, Client []string
		NotScored      []struct {
			Scenario, Reason string
			Leg              Leg
		} `json:"not_scored"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	scored := file.Server
	if leg == ClientLeg {
		scored = file.Client
	}
	if len(scored) == 0 {
		return nil, fmt.Errorf("no scenario for the %s leg", leg)
	}
	set := &Set{Leg: leg, Required: true}
	for _, name := range scored {
		set.Scenarios = append(set.Scenarios, Scenario{Name: name})
	}
	for _, n := range file.NotScored {
		if n.Leg == leg {
			set.Scenarios = append(set.Scenarios, Scenario{Name: n.Scenario, Unscored: n.Reason})
		}
	}
	return set, nil
}

// Of asks the suite which scenarios apply to a revision that has no requirement
// set.
func (in *Install) Of(ctx context.Context, revision string, leg Leg) (*Set, error) {
	cmd := in.command(ctx, "list", "--"+string(leg), "--spec-version", revision)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the scenarios of %s: %w", revision, err)
	}
	set := &Set{Revision: revision, Leg: leg}
	for _, name := range parseList(string(out)) {
		set.Scenarios = append(set.Scenarios, Scenario{Name: name})
	}
	if len(set.Scenarios) == 0 {
		return nil, fmt.Errorf("the suite lists no %s scenario for %s", leg, revision)
	}
	return set, nil
}

// parseList reads lines of the form "  - name [revision,revision]".
func parseList(out string) []string {
	var names []string
	for line := range strings.Lines(out) {
		item, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(item, " ")
		names = append(names, name)
	}
	return names
}

func (in *Install) command(ctx context.Context, args ...string) *exec.Cmd {
	return exec.CommandContext(ctx, in.bin, append([]string{filepath.Join(in.dir, "dist", "index.js")}, args...)...)
}
