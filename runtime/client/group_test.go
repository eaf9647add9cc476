package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// offering is a server with tools, which say whose they are.
func offering(name string, tools ...string) *fakes {
	return modern(func(f *fake, m *jsonrpc.Message) {
		switch m.Method {
		case mcp.MethodToolsList:
			var list []string
			for _, t := range tools {
				list = append(list, `{"name":"`+t+`","inputSchema":{"type":"object"}}`)
			}
			f.result(m, `{"resultType":"complete","tools":[`+strings.Join(list, ",")+`]}`)
		case mcp.MethodToolsCall:
			f.result(m, `{"resultType":"complete","content":[{"type":"text","text":"`+name+` `+text(m.Params, "name")+`"}]}`)
		}
	})
}

func down(int) error { return &peer.Failure{Reason: peer.Unreachable, NotDelivered: true} }

func group(t *testing.T, o GroupOptions, f func(t *testing.T, g *Group)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g, err := ConnectGroup(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		f(t, g)
		_ = g.Close()
	})
}

// W24.14: one namespace, the same for the same lists.
func TestNamesInAGroup(t *testing.T) {
	o := GroupOptions{Members: []Member{
		{Name: "a", Options: Options{Server: offering("a", "add", "sub", "b.add", "add")}},
		{Name: "b", Options: Options{Server: offering("b", "add", "mul")}},
		{Name: "c", Options: Options{Server: offering("c", "add")}},
	}}
	group(t, o, func(t *testing.T, g *Group) {
		tools, err := g.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tool := range tools {
			got = append(got, tool.Flat+"="+tool.Member+":"+tool.Name)
		}
		const want = "a.add=a:add sub=a:sub b.add=a:b.add b.add_=b:add mul=b:mul c.add=c:add"
		if strings.Join(got, " ") != want {
			t.Errorf("%v\nwant %s", got, want)
		}
		for name, want := range map[string]string{
			"a.add": "a add", "sub": "a sub", "b.add": "a b.add", "b.add_": "b add", "c.add": "c add",
			"b.mul": "b mul", // qualified names always work
		} {
			r, err := g.CallTool(t.Context(), name, nil)
			if err != nil || r.Text() != want {
				t.Errorf("%s: %v, %v", name, r, err)
			}
		}
		if _, err := g.CallTool(t.Context(), "add", nil); !errors.Is(err, ErrAmbiguous) {
			t.Error(err)
		}
		if _, err := g.CallTool(t.Context(), "none", nil); !errors.Is(err, ErrNoTool) {
			t.Error(err)
		}
		if c, err := g.Member("b"); err != nil || c.Server().Name != "s" {
			t.Error(err)
		}
		if _, err := g.Member("x"); err == nil {
			t.Error("there is no such member")
		}
	})
}

func TestAMemberThatIsDownHurtsNobody(t *testing.T) {
	late := offering("late", "add")
	late.refuse = func(n int) error {
		if n < 3 {
			return down(n)
		}
		return nil
	}
	var mu sync.Mutex
	heard := map[string]string{}
	o := GroupOptions{
		Members: []Member{
			{Name: "up", Required: true, Options: Options{Server: offering("up", "sub")}},
			{Name: "late", Options: Options{Server: late}},
		},
		Changed: func(member string, ch Change) {
			mu.Lock()
			defer mu.Unlock()
			heard[member] += ch.State.String() + " "
		},
	}
	group(t, o, func(t *testing.T, g *Group) {
		tools, err := g.Tools(t.Context())
		var of *MemberError
		if len(tools) != 1 || !errors.As(err, &of) || of.Member != "late" || !errors.Is(err, ErrNotConnected) {
			t.Error(tools, err)
		}
		if _, err := g.CallTool(t.Context(), "late.add", nil); !errors.Is(err, ErrNoTool) || !errors.Is(err, ErrNotConnected) {
			t.Error(err)
		}
		if r, err := g.CallTool(t.Context(), "sub", nil); err != nil || r.Text() != "up sub" {
			t.Error(r, err)
		}
		if st := g.Status(); st[0].State != Connected || st[0].Err != nil || !st[0].Required || st[1].State == Connected || st[1].Err == nil {
			t.Errorf("%+v", st)
		}
		time.Sleep(time.Minute)
		if r, err := g.CallTool(t.Context(), "add", nil); err != nil || r.Text() != "late add" {
			t.Error(r, err)
		}
		mu.Lock()
		defer mu.Unlock()
		if heard["up"] != "connecting connected " || heard["late"] != "connecting closed connecting closed connecting connected " {
			t.Error(heard)
		}
	})
}

func TestGroupsThatDoNotComeUp(t *testing.T) {
	missing := offering("m")
	missing.refuse = down
	silent := &fakes{revision: "none"}
	for name, tc := range map[string]struct {
		o    GroupOptions
		want string
	}{
		"a required member is down": {GroupOptions{Members: []Member{{Name: "a", Options: Options{Server: offering("a")}}, {Name: "b", Required: true, Options: Options{Server: missing}}}}, "b: unreachable"},
		"a required member is slow": {GroupOptions{ConnectTimeout: time.Second, Members: []Member{{Name: "s", Required: true, Options: Options{Server: silent}}}}, "s: client: the request timed out"},
		"nobody":                    {GroupOptions{}, "1 to 256 members"},
		"a name twice":              {GroupOptions{Members: []Member{{Name: "a"}, {Name: "a"}}}, "two members"},
		"no name":                   {GroupOptions{Members: []Member{{}}}, "no name"},
		"a dot in a name":           {GroupOptions{Members: []Member{{Name: "a.b"}}}, "no name"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if _, err := ConnectGroup(t.Context(), tc.o); err == nil || !strings.Contains(err.Error(), tc.want) {
					t.Error(err)
				}
			})
		})
	}
}

// A group's work is bounded, and a slow member delays only itself.
func TestParallelInAGroup(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	o := GroupOptions{Parallel: 3}
	for i := range 9 {
		s := modern(nil)
		s.serve = func(f *fake, m *jsonrpc.Message) {
			mu.Lock()
			now++
			most = max(most, now)
			mu.Unlock()
			sleepFor(1000)
			mu.Lock()
			now--
			mu.Unlock()
			f.result(m, `{"tools":[{"name":"t`+fmt.Sprint(i)+`"}]}`)
		}
		o.Members = append(o.Members, Member{Name: fmt.Sprintf("m%d", i), Options: Options{Server: s}})
	}
	group(t, o, func(t *testing.T, g *Group) {
		begin := time.Now()
		tools, err := g.Tools(context.WithoutCancel(t.Context()))
		if err != nil || len(tools) != 9 || most != 3 || time.Since(begin) != 3*time.Second {
			t.Errorf("%d tools, %v, %d at once, %v", len(tools), err, most, time.Since(begin))
		}
	})
}
