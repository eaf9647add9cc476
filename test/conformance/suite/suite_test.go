package suite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const requirements = `
server: [ping, tools-list]
client: [initialize, auth/pre-registration]
not_scored:
  - {scenario: tasks-lifecycle, leg: server, reason: extension}
  - {scenario: auth/dpop, leg: client, reason: extension, note: >- long}
`

func TestRequirementsOfALegKeepWhatIsNotScored(t *testing.T) {
	text := strings.Replace(requirements, ", note: >- long", "", 1)
	for leg, want := range map[Leg][]Scenario{
		ServerLeg: {{Name: "ping"}, {Name: "tools-list"}, {Name: "tasks-lifecycle", Unscored: "extension"}},
		ClientLeg: {{Name: "initialize"}, {Name: "auth/pre-registration"}, {Name: "auth/dpop", Unscored: "extension"}},
	} {
		set, err := parseRequirements([]byte(text), leg)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, set.Scenarios); diff != "" {
			t.Errorf("%s (-want +got)\n%s", leg, diff)
		}
	}
	if _, err := parseRequirements([]byte("server: [ping]"), ClientLeg); err == nil {
		t.Error("a set without a scenario was taken")
	}
}

func TestListIsReadWithoutItsRevisions(t *testing.T) {
	got := parseList("Server scenarios (test against a server):\n  - ping [2025-06-18,2025-11-25]\n  - auth/x\n\n")
	if diff := cmp.Diff([]string{"ping", "auth/x"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestResultsAreFoundByScenario(t *testing.T) {
	const stamp = "-2026-08-30T12-00-00-123Z"
	for name, test := range map[string]struct {
		leg     Leg
		folders []string
		want    []string
		wrong   bool
	}{
		"of servers without the leg before the name":       {ServerLeg, []string{"server-ping" + stamp, "server-server-initialize" + stamp}, []string{"ping", "server-initialize"}, false},
		"of clients with a slash in the name":              {ClientLeg, []string{"auth/pre-registration" + stamp, "tools_call" + stamp}, []string{"auth/pre-registration", "tools_call"}, false},
		"of two runs of one scenario neither":              {ClientLeg, []string{"tools_call" + stamp, "tools_call-2026-08-30T12-00-01-123Z"}, nil, true},
		"of a file that is cut off there is no result":     {ClientLeg, []string{"cut" + stamp}, nil, true},
		"a folder without a file is no result, no failure": {ClientLeg, []string{"none" + stamp}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, f := range test.folders {
				data := `[{"id":"a","status":"SUCCESS"}]`
				if strings.HasPrefix(f, "cut") {
					data = data[:10]
				}
				path := filepath.Join(dir, f)
				if err := os.MkdirAll(path, 0o755); err != nil {
					t.Fatal(err)
				}
				if strings.HasPrefix(f, "none") {
					continue
				}
				if err := os.WriteFile(filepath.Join(path, "checks.json"), []byte(data), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			got, err := Results(dir, test.leg)
			if (err != nil) != test.wrong {
				t.Fatalf("error %v", err)
			}
			for _, name := range test.want {
				if len(got[name].Checks) != 1 {
					t.Errorf("no result of %s in %v", name, got)
				}
			}
			if !test.wrong && len(got) != len(test.want) {
				t.Errorf("results %v", got)
			}
		})
	}
}

func TestArgumentsOfARun(t *testing.T) {
	required := &Set{Revision: "2026-07-28", Leg: ServerLeg, Required: true}
	listed := &Set{Revision: "2025-06-18", Leg: ServerLeg}
	client := &Set{Revision: "2026-07-28", Leg: ClientLeg, Required: true}
	for want, job := range map[string]Job{
		"server --output-dir d --url u --requirements 2026-07-28":                                               {Set: required, URL: "u", Dir: "d"},
		"server --output-dir d --url u --suite all --spec-version 2025-06-18":                                   {Set: listed, URL: "u", Dir: "d"},
		"server --output-dir d --url u --scenario ping --spec-version 2025-06-18 --force":                       {Set: listed, URL: "u", Dir: "d", Only: "ping"},
		"client --output-dir d --command c --timeout 0 --scenario tools_call --spec-version 2026-07-28 --force": {Set: client, Command: "c", Dir: "d", Only: "tools_call"},
	} {
		if got := strings.Join(job.args(), " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestOpenNamesTheCommandThatInstalls(t *testing.T) {
	dir := t.TempDir()
	manifest := `{"dependencies":{"` + Package + `":"1.2.3","` + nodePackage + `":"4.5.6"}}`
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "make conformance-suite") {
		t.Errorf("not installed: %v", err)
	}
	pkg := filepath.Join(dir, "node_modules", filepath.FromSlash(Package))
	if err := os.MkdirAll(pkg, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(pkg, "package.json"), []byte(`{"version":"1.2.2"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "1.2.2") {
		t.Errorf("another version: %v", err)
	}
}
