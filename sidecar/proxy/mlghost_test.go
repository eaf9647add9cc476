package proxy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// slowLeg answers pings after a while, or ends.
type slowLeg struct {
	upstream.Leg
	after time.Duration
	ended chan struct{}
}

func (l *slowLeg) Call(ctx context.Context, r peer.Request) (peer.Answer, error) {
	if r.Method != mcp.MethodPing {
		return peer.Answer{}, errors.New("only pings")
	}
	select {
	case <-time.After(l.after):
		return peer.Answer{}, nil
	case <-l.ended:
		return peer.Answer{}, l.Err()
	case <-ctx.Done():
		return peer.Answer{}, ctx.Err()
	}
}

func (l *slowLeg) Done() <-chan struct{} { return l.ended }

func (l *slowLeg) Err() error {
	select {
	case <-l.ended:
		return &peer.Failure{Reason: peer.Ended}
	default:
		return nil
	}
}

// counted is a call that counts what it is told.
type counted struct {
	caller
	n int
}

func (c *counted) Notification(peer.Incoming) { c.n++ }

func ghosts(d *desk) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.ghosts)
}

func TestWhatACallSaysThatWasGivenUpIsNobodys(t *testing.T) { // B6.1, B11.1, B19.4
	given := context.Canceled
	for name, test := range map[string]struct {
		leg  slowLeg
		err  error
		want time.Duration // until the question is given to who is left
	}{
		"the workload hears of it at once": {slowLeg{after: 0}, given, noticeTime},
		"the workload is busy":             {slowLeg{after: 10 * time.Second}, given, 10*time.Second + noticeTime},
		"the workload never answers":       {slowLeg{after: time.Hour}, given, attributionWait},
		"it never got there":               {slowLeg{after: 0}, &peer.Failure{Reason: peer.Ended, NotDelivered: true}, 0},
		"it was answered":                  {slowLeg{after: 0}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, all := deskWith(t, "given up", "left")
				leg := &test.leg
				leg.ended = make(chan struct{})
				d.forsake(all[0], upstream.Lease{Leg: leg}, test.err)
				began := time.Now()
				f, how := d.owner(t.Context(), elicit)
				if took := time.Since(began); took != test.want {
					t.Errorf("attributed (%s) after %v, want %v", how, took, test.want)
				}
				if never := test.want == attributionWait; never == (f == all[1]) {
					t.Errorf("attributed: %v, %s", f == all[1], how)
				}
				close(leg.ended)
				synctest.Wait()
				if ghosts(d) != 0 {
					t.Error("ghosts of a process that has ended")
				}
				if d.p.parking.habits.alone("left", false) {
					t.Error("a call is leased for what another did")
				}
			})
		})
	}
}

func TestLogsInTheShadowOfACallThatWasGivenUp(t *testing.T) { // B11.1, B19.4
	synctest.Test(t, func(t *testing.T) {
		d, all := deskWith(t, "given up", "left")
		leg := &slowLeg{after: time.Second, ended: make(chan struct{})}
		d.forsake(all[0], upstream.Lease{Leg: leg}, context.Canceled)
		c := &counted{}
		say := func(method string, certain bool) {
			in := peer.Incoming{Msg: &jsonrpc.Message{Method: method}, Certain: certain}
			if d.hearsay(in) {
				return
			}
			c.Notification(in)
		}
		say(mcp.NotifyMessage, false)
		if c.n != 0 {
			t.Error("a log that may be another's was delivered")
		}
		say(mcp.NotifyMessage, true)
		say(mcp.NotifyProgress, false) // its token says whose it is
		if c.n != 2 {
			t.Errorf("%d of two that are certain", c.n)
		}
		time.Sleep(time.Second + noticeTime)
		synctest.Wait()
		if say(mcp.NotifyMessage, false); c.n != 2 || ghosts(d) != 0 {
			t.Error("a log of a handler that is slow to stop was delivered")
		}
		time.Sleep(hushTime)
		if say(mcp.NotifyMessage, false); c.n != 3 {
			t.Error("logs are lost for good")
		}
	})
}

// A task may outlive who wanted it; what it says is not the next call's.
func TestWhatATaskSaysIsNoOtherCalls(t *testing.T) { // B5.4, B6.1, B11.1
	d, all := deskWith(t, "another")
	meta := []byte(`{"io.modelcontextprotocol/related-task":{"taskId":"t"},"io.modelcontextprotocol/model-immediate-response":"m","x/y":1}`)
	question := elicit
	question.Msg = &jsonrpc.Message{Method: mcp.MethodElicit, Meta: meta}
	if f, how := d.owner(t.Context(), question); f != nil || how != AttributedNone {
		t.Errorf("a question was attributed (%s)", how)
	}
	log := peer.Incoming{Msg: &jsonrpc.Message{Method: mcp.NotifyMessage, Meta: meta}}
	if !d.hearsay(log) {
		t.Error("a log was attributed")
	}
	d.tasks = map[string]*flight{"t": all[0]}
	if f, how := d.owner(t.Context(), question); f != all[0] || how != AttributedCertain {
		t.Errorf("a question of a task that is waited for is %s", how)
	}
	raw := []byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1,"_meta":` + string(meta) + `}}`)
	m, err := jsonrpc.Parse(raw, strictjson.FromWorkload)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(unforged(m)), `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1,"_meta":{"x/y":1}}}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func TestGhostsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, _ := deskWith(t)
		leg := &slowLeg{after: time.Hour, ended: make(chan struct{})}
		for range maxGhosts + 10 {
			d.forsake(&flight{p: d.p, declared: d.declared}, upstream.Lease{Leg: leg}, context.Canceled)
		}
		synctest.Wait()
		if n := ghosts(d); n != maxGhosts {
			t.Errorf("%d are kept", n)
		}
		time.Sleep(2 * ghostTime) // the first one's ping was on its way before
		synctest.Wait()
		if n := ghosts(d); n != 0 {
			t.Errorf("%d are kept for good", n)
		}
	})
}
