package client

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// W24.9: structured output is held against the schema of the last list, for
// calls and tasks alike, by whatever checker the program brings.
func TestOutputIsChecked(t *testing.T) {
	const schema = `{"type":"object","required":["n"]}`
	for name, tc := range map[string]struct {
		tool, result string
		bad          bool
	}{
		"fits":                       {"x", `{"content":[],"structuredContent":{"n":1}}`, false},
		"does not fit":               {"x", `{"content":[],"structuredContent":{}}`, true},
		"a failure need not":         {"x", `{"content":[],"structuredContent":{},"isError":true}`, false},
		"no output at all":           {"x", `{"content":[]}`, false},
		"a tool without a schema":    {"free", `{"content":[],"structuredContent":{}}`, false},
		"a tool that nobody listed ": {"hidden", `{"content":[],"structuredContent":{}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := modern(func(f *fake, m *jsonrpc.Message) {
				switch {
				case m.Method == mcp.MethodToolsList:
					f.result(m, `{"tools":[{"name":"x","outputSchema":`+schema+`},{"name":"free"}]}`)
				case m.Method == mcp.MethodTasksGet:
					f.result(m, stands("completed", `,"result":`+tc.result))
				case member(m.Params, "_meta", mcp.MetaClientCapabilities, "extensions") != nil:
					f.result(m, created())
				default:
					f.result(m, tc.result)
				}
			})
			check := func(asked, output json.RawMessage) error {
				if string(asked) != schema {
					t.Errorf("held against %s", asked)
				}
				if _, ok := number(output, "n"); !ok {
					return errors.New("n is missing")
				}
				return nil
			}
			bubble(t, s, Options{CheckOutput: check}, func(t *testing.T, c *Client) {
				if _, err := c.ListTools(t.Context()); err != nil {
					t.Fatal(err)
				}
				_, err := c.CallTool(t.Context(), tc.tool, nil)
				task, taskErr := c.StartTool(t.Context(), tc.tool, nil, TaskOptions{})
				if taskErr == nil {
					_, taskErr = task.Wait(t.Context())
				}
				for _, err := range []error{err, taskErr} {
					var of *OutputError
					if tc.bad != errors.As(err, &of) || !tc.bad && err != nil {
						t.Error(err)
					}
					if of != nil && (of.Tool != "x" || of.Result.Raw == nil) {
						t.Errorf("%+v", of)
					}
				}
			})
		})
	}
}
