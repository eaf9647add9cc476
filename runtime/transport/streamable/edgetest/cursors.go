package edgetest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/server"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// pages is a server whose lists have pages of one.
func pages(t *testing.T) *server.Server {
	s := server.New(server.Info{Name: "s"}, server.Options{PageSize: 1})
	for _, name := range []string{"a", "b", "c"} {
		if err := s.AddPrompt(server.Prompt{Name: name}, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.AddResource(server.Resource{URI: "x:" + name, Name: name}, nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// Cursors lead from page to page, and are of use for one list of one server
// only. P33.12, W22.1, W22.2, B11.12.
func Cursors(t *testing.T, target Target) {
	other := ""
	target.open(t, pages(t), Settings{}, func(c *client) { _, other = c.page("prompts/list", "", nil) })
	target.open(t, pages(t), Settings{}, func(c *client) {
		for _, revision := range mcp.Revisions() {
			header := map[string]string(nil)
			if revision != mcp.Revision20260728 {
				header = on(c.connect(revision))
			}
			names, cursor := "", ""
			for range 3 {
				var a answer
				a, cursor = c.page("prompts/list", cursor, header)
				name, _ := strictjson.GetPath([]byte(a.message()), "result", "prompts")
				names += string(name)
			}
			if cursor != "" || names != `[{"name":"a"}][{"name":"b"}][{"name":"c"}]` {
				t.Errorf("%s: %s, and then %q", revision, names, cursor)
			}
			_, cursor = c.page("prompts/list", "", header)
			for name, q := range map[string]struct{ method, cursor string }{
				"another list":   {"resources/list", cursor},
				"another server": {"prompts/list", other},
				"long":           {"prompts/list", fmt.Sprintf("%q", strings.Repeat("x", 100<<10))},
				"made up":        {"prompts/list", `"MQ=="`},
				"a number":       {"prompts/list", `5`},
			} {
				if a, _ := c.page(q.method, q.cursor, header); a.status != 200 || a.code() != "-32602" {
					t.Errorf("%s in %s: %d %.200s", name, revision, a.status, a.body)
				}
			}
			if header != nil {
				c.ask(call{method: "DELETE", header: header})
			}
		}
	})
}

// page asks for one page; header is that of a session, nil for none. The cursor
// is raw, empty for none.
func (c *client) page(method, cursor string, header map[string]string) (a answer, next string) {
	var members []string
	if cursor != "" {
		members = append(members, `"cursor":`+cursor)
	}
	if header == nil {
		header, members = modern(method), append(members, envelope)
	}
	a = c.ask(call{body: `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + strings.Join(members, ",") + `}}`, header: header})
	raw, _ := strictjson.GetPath([]byte(a.message()), "result", "nextCursor")
	return a, string(raw)
}
