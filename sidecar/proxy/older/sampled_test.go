package older

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

func TestAnswersToSampling(t *testing.T) { // B14.6, section 17
	for name, tc := range map[string]struct{ revision, in, want string }{
		"one block stays":            {"2025-06-18", `{"role":"assistant","content":{"type":"text","text":"a"}}`, `{"role":"assistant","content":{"type":"text","text":"a"}}`},
		"an array of one is a block": {"2025-06-18", `{"content":[{"type":"image","data":"x"}],"n":1.0}`, `{"content":{"type":"image","data":"x"},"n":1.0}`},
		"several texts are joined":   {"2024-11-05", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `{"content":{"type":"text","text":"a\nb"}}`},
		"several kinds are refused":  {"2025-03-26", `{"content":[{"type":"text","text":"a"},{"type":"image","data":"x"}]}`, ""},
		"nothing is refused":         {"2025-03-26", `{"content":[]}`, ""},
		"a use of tools is refused":  {"2025-06-18", `{"content":[{"type":"tool_use","name":"x"}]}`, ""},
		"newer servers get it whole": {"2025-11-25", `{"content":[{"type":"tool_use","name":"x"}]}`, `{"content":[{"type":"tool_use","name":"x"}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := mcp.Lookup(tc.revision)
			got, ok := Sampled(p, []byte(tc.in))
			if string(got) != tc.want || ok != (tc.want != "") {
				t.Errorf("%s %v", got, ok)
			}
		})
	}
}
