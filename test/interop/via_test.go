//go:build peers

package interop

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// via is one row: a client and a workload of others, and the sidecar between.
type via struct {
	*testing.T
	f     foreignClient
	b     backing
	lacks lacks
	stage *stage
	c     *talker
}

// lacksIt reports whether the row lacks something, and says so.
func (v *via) lacksIt(what string) bool {
	why, ok := v.lacks[what]
	if ok {
		v.Logf("lacks %s: %s", what, why)
	}
	return ok
}

// B0.1: clients of others use workloads of others through the sidecar, each in
// its own revision. What the sidecar says to them is judged when all is over.
func TestForeignClientsThroughTheSidecar(t *testing.T) {
	t.Parallel()
	for workload, b := range backings(t) {
		t.Run(workload, func(t *testing.T) {
			t.Parallel()
			side := runs(t, b.args(t)...)
			// One after another: the workload counts what all have cancelled.
			for name, f := range actors() {
				t.Run(name, func(t *testing.T) {
					s := around(t, side.front(), side.counts(), nil)
					v := &via{t, f, b, lackingWith(name, f, workload, b), s, f.talks(t, s.url)}
					v.reads()
					v.echoes()
					v.progresses()
					v.asks()
					v.cancels()
					v.resumes()
					v.c.bye()
					eventually(bounded(t), t, "its session has ended", func() bool { return s.sessions() == 0 })
					if given, used := s.seen.ids(); f.sessions() != (len(given) == 1) || !f.sessions() && len(used) > 0 {
						t.Errorf("sessions %v were begun, %v used", given, used)
					}
				})
			}
			t.Run("Inspector", func(t *testing.T) {
				s := around(t, side.front(), side.counts(), nil)
				inspect(t, s.url, b)
			})
		})
	}
}

// reads lists what there is and gets one of each.
func (v *via) reads() {
	if names := v.c.ask(order{Do: "tools"}).Names; !slices.Contains(names, v.b.tools.echo.name) {
		v.Errorf("tools: %s", v.c.out.Bytes())
	}
	if e := v.c.ask(order{Do: "ping"}); e.Event != "pong" {
		v.Errorf("ping: %s", v.c.out.Bytes())
	}
	if v.lacksIt(listing) {
		return
	}
	if names := v.c.ask(order{Do: "prompts"}).Names; !slices.Contains(names, v.b.prompt) {
		v.Errorf("prompts: %s", v.c.out.Bytes())
	}
	if e := v.c.ask(order{Do: "prompt", Name: v.b.prompt, Args: map[string]any{"who": "peer"}}); e.Event != "prompt" || !strings.Contains(string(e.Result), `"messages":[{`) {
		v.Errorf("prompt: %s", v.c.out.Bytes())
	}
	if names := v.c.ask(order{Do: "resources"}).Names; !slices.Contains(names, v.b.resource) {
		v.Errorf("resources: %s", v.c.out.Bytes())
	}
	if e := v.c.ask(order{Do: "templates"}); e.Event != "templates" {
		v.Errorf("templates: %s", v.c.out.Bytes())
	}
	if e := v.c.ask(order{Do: "read", Name: v.b.resource}); e.Event != "read" || !strings.Contains(string(e.Result), `"contents":[{`) {
		v.Errorf("read: %s", v.c.out.Bytes())
	}
	if e := v.c.ask(order{Do: "read", Name: "nobody://knows/this"}); e.Event != "failed" {
		v.Errorf("a resource that is not there: %s", v.c.out.Bytes())
	}
}

func (v *via) echoes() {
	v.c.calls(v.b.tools.echo.name, v.b.tools.echo.args, v.b.tools.echo.want)
	if e := v.c.ask(order{Do: "call", Name: "there-is-no-such-tool"}); !e.failed() {
		v.Errorf("a tool that is not there: %s", v.c.out.Bytes())
	}
}

func (v *via) progresses() {
	if v.lacksIt(progress) {
		return
	}
	one, least := v.b.tools.progress, v.f.progress
	if v.b.forgets {
		least = 1
	}
	if e := v.c.calls(one.name, one.args, one.want); e.Progress < least {
		v.Errorf("progress: %d notifications, want %d", e.Progress, least)
	}
}

// asks lets the workload ask the client.
func (v *via) asks() {
	for kind, one := range map[string]call{elicitation: v.b.tools.elicit, sampling: v.b.tools.sample, roots: v.b.tools.roots} {
		if v.lacksIt(kind) {
			continue
		}
		e := v.c.calls(one.name, one.args, one.want)
		asked := e.Seen[kind]
		if kind == roots {
			asked = e.Total[kind] // some ask when the session begins
		}
		if asked == 0 && kind == roots && (v.f.silent || v.b.remembers && !v.f.sessions()) {
			continue // uncounted, or said by who was there before
		}
		if asked == 0 {
			v.Errorf("%s: asked %v of %v", kind, e.Seen, e.Total)
		}
	}
}

// cancels gives a call up; the conversation goes on, and the tool hears of it.
func (v *via) cancels() {
	slow := v.b.tools.slow
	if slow.name == "" {
		v.lacksIt(cancelling)
		return
	}
	count := func() string {
		return string(v.c.calls(v.b.tools.cancelled, nil, "").Result)
	}
	heard := !v.lacksIt(cancelling)
	before := ""
	if heard {
		before = count()
	}
	if e := v.c.ask(order{Do: "cancel", Name: slow.name, Args: slow.args, AfterMs: 300}); e.Event != "cancelled" || e.Count != 1 {
		v.Errorf("cancel: %s", v.c.out.Bytes())
	}
	v.c.calls(v.b.tools.echo.name, v.b.tools.echo.args, v.b.tools.echo.want)
	for ctx := bounded(v.T); heard && count() == before; {
		v.pause(ctx, "the tool does not hear that it was given up")
	}
}

func (v *via) pause(ctx context.Context, what string) {
	select {
	case <-ctx.Done():
		v.Fatal(what)
	case <-time.After(20 * time.Millisecond):
	}
}

// resumes breaks the connection under a call.
func (v *via) resumes() {
	long := v.b.tools.long
	if long.name == "" {
		v.lacksIt(resuming)
		return
	}
	v.c.say(order{Do: "call", Name: long.name, Args: long.args, Tell: true, TimeoutMs: v.f.deadlineMs})
	v.c.next("progress")
	if v.stage.cut.cut() == 0 {
		v.Error("nothing was cut")
	}
	switch e := v.c.next("result", "failed"); {
	case v.lacksIt(resuming):
		if e.Event != "failed" {
			v.Errorf("a call was answered that nobody came back for: %s", v.c.out.Bytes())
		}
	case e.failed() || !strings.Contains(string(e.Result), long.want):
		v.Errorf("resume: %s", v.c.out.Bytes())
	case v.stage.seen.resumed.Load() == 0:
		v.Error("nothing was resumed")
	}
	v.c.goesOn(v.b.tools.echo.name, v.b.tools.echo.args, v.b.tools.echo.want)
}
