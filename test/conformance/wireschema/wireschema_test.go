package wireschema

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fairlead-dev/fairlead/test/conformance/record"
)

// schemaText is a small schema of the shape that the protocol's schemas have.
const schemaText = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "JSONRPCRequest": {"type":"object","required":["jsonrpc","id","method"]},
    "JSONRPCNotification": {"type":"object","required":["jsonrpc","method"]},
    "JSONRPCResultResponse": {"type":"object","required":["jsonrpc","id","result"],"properties":{"id":{"type":["string","integer"]}}},
    "JSONRPCErrorResponse": {"type":"object","required":["jsonrpc","error"],"properties":{"id":{"type":["string","integer"]},"error":{"type":"object","required":["code","message"]}}},
    "PickyError": {"type":"object","properties":{"error":{"allOf":[{"type":"object"},{"type":"object","required":["data"],"properties":{"code":{"const":-32022}}}]}}},
    "Result": {"type":"object"},
    "EmptyResult": {"type":"object"},
    "InputRequiredResult": {"type":"object","required":["resultType"],"properties":{"requestState":{"type":"string"}}},
    "PingRequest": {"type":"object","required":["jsonrpc","id"],"properties":{"method":{"const":"ping"}}},
    "InitializeRequest": {"type":"object","properties":{"method":{"const":"initialize"}}},
    "InitializeResult": {"type":"object","required":["protocolVersion"]},
    "ListToolsRequest": {"type":"object","properties":{"method":{"const":"tools/list"}}},
    "ListToolsResult": {"type":"object","required":["tools"],"properties":{"tools":{"type":"array"},"blob":{"type":"string","format":"byte"}}},
    "ProgressNotification": {"type":"object","properties":{"method":{"const":"notifications/progress"},"params":{"type":"object","required":["progress"]}}},
    "NumberSchema": {"type":"object","properties":{"default":{"type":"integer"}}},
    "ElicitResult": {"type":"object","properties":{"content":{"type":"object","additionalProperties":{"anyOf":[{"type":"array"},{"type":["boolean","integer","string"]}]}}}}
  }
}`

func judge(t *testing.T) *Judge {
	t.Helper()
	dir := t.TempDir()
	for _, revision := range []string{"2025-03-26", "2025-11-25", "2026-07-28"} {
		if err := os.MkdirAll(filepath.Join(dir, revision), 0o755); err != nil {
			t.Fatal(err)
		}
		text := schemaText
		if revision == "2025-03-26" {
			text = strings.ReplaceAll(text, `"required":["tools"]`, `"required":["old"]`)
			text = strings.ReplaceAll(text, "$defs", "definitions")
		}
		if err := os.WriteFile(filepath.Join(dir, revision, "schema.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	j, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func theirs(exchange int64, session, version, message string) record.Line {
	return record.Line{Exchange: exchange, From: record.Theirs, Session: session, Version: version, Message: json.RawMessage(message)}
}

func ours(exchange int64, session, version, message string) record.Line {
	l := theirs(exchange, session, version, message)
	l.From = record.Ours
	return l
}

func TestMessagesAreJudgedByWhatTheyAre(t *testing.T) {
	const (
		list    = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
		modern  = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`
		getTask = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`
		newTask = `{"resultType":"task","taskId":"0123456789abcdef","status":"working","createdAt":"2026-08-30T12:00:00Z","lastUpdatedAt":"2026-08-30T12:00:00Z","ttlMs":1000}`
		unknown = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"v999"}}}`
	)
	overTask := strings.NewReplacer(`"task"`, `"complete"`, "working", "completed").Replace(newTask)
	for name, test := range map[string]struct {
		lines []record.Line
		want  []string // revision, what, method of violations
	}{
		"a good result": {[]record.Line{theirs(1, "", "2025-11-25", list), ours(1, "", "2025-11-25", `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`)}, nil},
		"a result without what it must have": {
			[]record.Line{theirs(1, "", "2025-11-25", list), ours(1, "", "2025-11-25", `{"jsonrpc":"2.0","id":1,"result":{}}`)},
			[]string{"2025-11-25 result tools/list"},
		},
		"the answer on a resumed stream, by the session": {
			[]record.Line{theirs(1, "s", "2025-11-25", list), ours(2, "s", "2025-11-25", `{"jsonrpc":"2.0","id":1,"result":{}}`)},
			[]string{"2025-11-25 result tools/list"},
		},
		"another session's request of the same id is another": {
			[]record.Line{
				theirs(1, "s", "2025-11-25", list), theirs(2, "t", "2025-11-25", `{"jsonrpc":"2.0","id":1,"method":"ping"}`),
				ours(2, "t", "2025-11-25", `{"jsonrpc":"2.0","id":1,"result":{}}`),
			}, nil,
		},
		"an id that is a string is not the number": {
			[]record.Line{
				theirs(1, "s", "2025-11-25", list), theirs(1, "s", "2025-11-25", `{"jsonrpc":"2.0","id":"1","method":"ping"}`),
				ours(1, "s", "2025-11-25", `{"jsonrpc":"2.0","id":"1","result":{}}`),
			}, nil,
		},
		"the revision of a session is what was negotiated": {
			[]record.Line{
				theirs(1, "", "", `{"jsonrpc":"2.0","id":0,"method":"initialize"}`),
				ours(1, "s", "", `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}`),
				theirs(2, "s", "", list), ours(2, "s", "", `{"jsonrpc":"2.0","id":1,"result":{"old":1}}`),
			},
			[]string{"2025-11-25 result tools/list"},
		},
		"a request without any version speaks 2025-03-26": {
			[]record.Line{theirs(1, "", "", list), ours(1, "", "", `{"jsonrpc":"2.0","id":1,"result":{"old":1}}`)}, nil,
		},
		"an envelope says the revision": {
			[]record.Line{theirs(1, "", "", modern), ours(1, "", "", `{"jsonrpc":"2.0","id":1,"result":{"old":1}}`)},
			[]string{"2026-07-28 result tools/list"},
		},
		"an error that the revision describes more exactly": {
			[]record.Line{theirs(1, "", "", unknown), ours(1, "", "", `{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"m"}}`)},
			[]string{"2026-07-28 error tools/list"},
		},
		"an answer to what could not be read has no id": {
			[]record.Line{
				{From: record.Theirs, Exchange: 1, Broken: "{"},
				ours(1, "", "2025-11-25", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`),
				ours(1, "", "2025-11-25", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`),
			},
			[]string{"2025-11-25 error "},
		},
		"input_required is a result of its own": {
			[]record.Line{theirs(1, "", "", modern), ours(1, "", "", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","requestState":1}}`)},
			[]string{"2026-07-28 result tools/list"},
		},
		"a notification": {
			[]record.Line{ours(1, "s", "2025-11-25", `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`)},
			[]string{"2025-11-25 notification notifications/progress"},
		},
		"a batch is judged one by one": {
			[]record.Line{theirs(1, "", "2025-03-26", list), ours(1, "", "2025-03-26", `[{"jsonrpc":"2.0","id":1,"result":{"old":1}},{"jsonrpc":"2.0","id":1,"result":{}}]`)},
			[]string{"2025-03-26 result tools/list"},
		},
		"bytes that are not what they are said to be": {
			[]record.Line{theirs(1, "", "2025-11-25", list), ours(1, "", "2025-11-25", `{"jsonrpc":"2.0","id":1,"result":{"tools":[],"blob":"§"}}`)},
			[]string{"2025-11-25 result tools/list"},
		},
		"a call that became a task": {
			[]record.Line{theirs(1, "", "2026-07-28", list), ours(1, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"result":`+newTask+`}`)}, nil,
		},
		"a task that leaks the state of its rounds": {
			[]record.Line{theirs(1, "", "2026-07-28", list), ours(1, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"result":`+strings.Replace(newTask, "{", `{"requestState":"s",`, 1)+`}`)},
			[]string{"2026-07-28 task result tools/list"},
		},
		"a task that is over without a result": {
			[]record.Line{theirs(1, "", "2026-07-28", getTask), ours(1, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"result":`+overTask+`}`)},
			[]string{"2026-07-28 task result tasks/get"},
		},
		"an acknowledgement that says more than it should": {
			[]record.Line{theirs(1, "", "2026-07-28", strings.Replace(getTask, "get", "cancel", 1)), ours(1, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","status":"cancelled"}}`)},
			[]string{"2026-07-28 task result tasks/cancel"},
		},
		"a task that is told without its subscription": {
			[]record.Line{ours(1, "", "2026-07-28", `{"jsonrpc":"2.0","method":"notifications/tasks","params":`+strings.Replace(newTask, `"resultType":"task",`, "", 1)+`}`)},
			[]string{"2026-07-28 task notification notifications/tasks"},
		},
		"what peers send wrong is theirs":        {[]record.Line{theirs(1, "", "2025-11-25", `{"jsonrpc":"2.0","method":"ping","id":{}}`), theirs(1, "", "", `7`)}, nil},
		"what is no JSON at all is a violation":  {[]record.Line{{From: record.Ours, Broken: "oops"}}, []string{" message "}},
		"what is JSON but no message is one too": {[]record.Line{ours(1, "", "", `7`)}, []string{" message "}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range judge(t).Check(test.lines) {
				got = append(got, fmt.Sprintf("%s %s %s", v.Revision, v.What, v.Method))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("violations (-want +got)\n%s", diff)
			}
		})
	}
}

func TestCountsTellWhatOnlyTheEnvelopeWasJudgedOf(t *testing.T) {
	j := judge(t)
	j.Check([]record.Line{
		theirs(1, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"vendor/x"}`), ours(1, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"result":{}}`),
		theirs(2, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"method":"ping"}`), ours(2, "", "2026-07-28", `{"jsonrpc":"2.0","id":1,"result":{}}`),
	})
	want := []Count{{Kind{"2026-07-28", "result", true}, 1}, {Kind{"2026-07-28", "result", false}, 1}}
	if diff := cmp.Diff(want, j.Counts()); diff != "" {
		t.Errorf("counts (-want +got)\n%s", diff)
	}
}

func TestNumbersOfASchemaMayHaveFractions(t *testing.T) {
	j := judge(t)
	for def, value := range map[string]any{
		"NumberSchema": map[string]any{"default": json.Number("95.5")},
		"ElicitResult": map[string]any{"content": map[string]any{"score": json.Number("95.5")}},
	} {
		if err := j.schemas["2025-11-25"].validate(def, value); err != nil {
			t.Error(err)
		}
	}
}

func TestFolderIsFoundBesideTheRepository(t *testing.T) {
	top := t.TempDir()
	root := filepath.Join(top, "a", "repo")
	for _, dir := range []string{root, filepath.Join(top, "b", "mcp-schema", "2025-11-25")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv(FolderVariable, "")
	if got, err := Find(root); err != nil || got != "" {
		t.Errorf("an empty folder was found: %q, %v", got, err)
	}
	want := filepath.Join(top, "b", "mcp-schema")
	if err := os.WriteFile(filepath.Join(want, "2025-11-25", "schema.json"), []byte(schemaText), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := Find(root); err != nil || got != want {
		t.Errorf("found %q, %v", got, err)
	}
	t.Setenv(FolderVariable, filepath.Join(top, "b"))
	if got, err := Find(root); err == nil {
		t.Errorf("the variable names a folder without schemas, found %q", got)
	}
}
