package middleware_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
)

func from(bucket, method string) *middleware.Message {
	m := request(method, "")
	m.Bucket = bucket
	return m
}

// W24.12, W28.5
func TestRateLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := 0
		link := middleware.RateLimit(middleware.Rate{Every: time.Second, Burst: 3, Limited: func(*middleware.Message) { refused++ }})
		let := func(m *middleware.Message) bool {
			_, passed := run(t, link, m, ok())
			return passed != nil
		}
		many := func(bucket string) (n int) {
			for range 10 {
				if let(from(bucket, "tools/list")) {
					n++
				}
			}
			return n
		}
		if a, b := many("a"), many("b"); a != 3 || b != 3 || refused != 14 {
			t.Errorf("%d and %d at once, %d refused", a, b, refused)
		}
		o, _ := run(t, link, from("a", "tools/list"), ok())
		if want := `{"reason":"rate_limited","retryAfterMs":1000}`; o.Err == nil || string(o.Err.Data) != want {
			t.Errorf("%+v", o)
		}
		time.Sleep(2500 * time.Millisecond)
		if n := many("a"); n != 2 {
			t.Errorf("%d after 2.5 s", n)
		}
		time.Sleep(time.Hour)
		if n := many("a"); n != 3 {
			t.Errorf("%d after an hour: nothing is saved up", n)
		}
		for _, m := range []*middleware.Message{from("a", "ping"), from("a", "initialize"), {Kind: jsonrpc.KindNotification, Method: "notifications/cancelled", Bucket: "a"}, {Kind: jsonrpc.KindResponse, Bucket: "a"}} {
			if !let(m) {
				t.Errorf("%+v was refused", m)
			}
		}
	})
}

// The table of callers is bounded: those that are like new make room, and when
// nobody is, further ones share.
func TestRateLimitForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		link := middleware.RateLimit(middleware.Rate{Every: time.Second, Burst: 2, Keys: 10})
		let := func(bucket string) bool {
			_, passed := run(t, link, from(bucket, "m"), ok())
			return passed != nil
		}
		for i := range 10 {
			let(fmt.Sprint(i))
		}
		n := 0
		for i := range 100 {
			if let(fmt.Sprint("new", i)) {
				n++
			}
		}
		if n != 2 {
			t.Errorf("%d newcomers got through", n)
		}
		if !let("0") || let("0") {
			t.Error("a known caller lost its own allowance")
		}
		time.Sleep(10 * time.Second)
		for i := range 10 {
			who, n := fmt.Sprint("late", i), 0
			for range 3 {
				if let(who) {
					n++
				}
			}
			if n != 2 {
				t.Errorf("%s was let in %d times", who, n)
			}
		}
	})
}

func TestRateLimitKeys(t *testing.T) {
	seen := map[string]*middleware.Message{
		"bucket":    {Kind: jsonrpc.KindRequest, Bucket: "x", Principal: "y"},
		"principal": {Kind: jsonrpc.KindRequest, Principal: "x"},
		"session":   {Kind: jsonrpc.KindRequest, Session: "x"},
		"nobody":    {Kind: jsonrpc.KindRequest},
	}
	link := middleware.RateLimit(middleware.Rate{Every: time.Hour, Burst: 1})
	for name, m := range seen {
		if _, passed := run(t, link, m, ok()); passed == nil {
			t.Errorf("%s shares an allowance", name)
		}
		if o, passed := run(t, link, m, ok()); passed != nil || !strings.Contains(string(o.Err.Data), "rate_limited") {
			t.Errorf("%s has two", name)
		}
	}
}

func TestRateLimitCountsTogether(t *testing.T) {
	link := middleware.RateLimit(middleware.Rate{Every: time.Hour, Burst: 50})
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 200 {
		wg.Go(func() {
			if _, passed := run(t, link, from("a", "m"), ok()); passed != nil {
				mu.Lock()
				n++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 50 {
		t.Errorf("%d of 50", n)
	}
}
