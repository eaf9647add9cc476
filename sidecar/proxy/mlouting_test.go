package proxy

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

func pages(ids ...string) *jsonrpc.Error {
	data := `{"elicitations":[`
	for i, id := range ids {
		if i > 0 {
			data += ","
		}
		data += id
	}
	return &jsonrpc.Error{Data: []byte(data + "]}")}
}

func named(id string) string { return `{"elicitationId":"` + id + `","url":"https://x"}` }

func cameBack(id string) *jsonrpc.Message {
	return &jsonrpc.Message{Params: []byte(`{"elicitationId":"` + id + `"}`)}
}

// The retry of a call waits until its user is back, no longer than that may
// take, and only for workloads that say so.
func TestARetryWaitsForTheVisit(t *testing.T) { // B7.19
	for name, tc := range map[string]struct {
		pages  []string
		round  int
		before []string         // told before the retry
		during func(o *outings) // after a second of it
		stop   bool             // the client goes after five
		want   time.Duration
	}{
		"a workload that never told": {pages: []string{named("a")}, round: 1},
		"that asks once more":        {pages: []string{named("a")}, round: 2, want: outingWait},
		"the user is back before":    {pages: []string{named("a")}, round: 1, before: []string{"a"}},
		"the user comes back":        {pages: []string{named("a")}, round: 1, before: []string{"z"}, during: func(o *outings) { o.over(cameBack("a")) }, want: time.Second},
		"somebody else comes back":   {pages: []string{named("a")}, round: 1, before: []string{"z"}, during: func(o *outings) { o.over(cameBack("b")) }, want: outingWait},
		"one of two pages":           {pages: []string{named("a"), named("b")}, round: 1, before: []string{"a"}, want: outingWait},
		"both of two pages":          {pages: []string{named("a"), named("b")}, round: 1, before: []string{"a"}, during: func(o *outings) { o.over(cameBack("b")) }, want: time.Second},
		"a page without a name":      {pages: []string{named("a"), `{"url":"https://y"}`}, round: 2},
		"no pages":                   {round: 2},
		"the client does not wait":   {pages: []string{named("a")}, round: 2, stop: true, want: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var o outings
				o.begin([]byte("call"), pages(named("an older answer")))
				o.begin([]byte("call"), pages(tc.pages...))
				o.begin([]byte("other"), pages(named("c")))
				for _, id := range tc.before {
					o.over(cameBack(id))
				}
				if tc.during != nil {
					time.AfterFunc(time.Second, func() { tc.during(&o) })
				}
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				if tc.stop {
					time.AfterFunc(5*time.Second, func() { stop(errors.New("gone")) })
				}
				begun := time.Now()
				o.wait(ctx, []byte("call"), tc.round)
				if d := time.Since(begun); d != tc.want {
					t.Errorf("waited %v, want %v", d, tc.want)
				}
				if len(o.out) != 1 || o.out[0].call != "other" {
					t.Errorf("%d calls are left", len(o.out))
				}
			})
		})
	}
}

func TestOutingsAreBounded(t *testing.T) {
	var o outings
	for n := range maxOutings + 5 {
		o.begin(fmt.Append(nil, n), pages(named("a")))
	}
	if len(o.out) != maxOutings || o.out[0].call != "5" {
		t.Errorf("%d are kept, from %s", len(o.out), o.out[0].call)
	}
}
