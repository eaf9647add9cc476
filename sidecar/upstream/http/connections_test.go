package http

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/sidecar/upstream"
)

// closer is a workload on a real port that closes connections as it likes and
// says nothing of it.
type closer struct {
	t    *testing.T
	port int
	// after decides about a connection when a request was answered on it, before
	// when one has come: true closes it without an answer.
	after, before func(method string, nth int) bool

	mu     sync.Mutex
	ran    map[string]int // by method
	second int            // requests that were not the first on their connection
}

func (c *closer) start() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		c.t.Fatal(err)
	}
	c.port, c.ran = l.Addr().(*net.TCPAddr).Port, map[string]int{}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { c.serve(conn) })
		}
	})
	c.t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
}

func (c *closer) serve(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for nth := 1; ; nth++ {
		req, err := nethttp.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		m, err := jsonrpc.Parse(body, strictjson.FromWorkload)
		if err != nil {
			_, _ = io.WriteString(conn, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
			continue
		}
		if c.before != nil && c.before(m.Method, nth) {
			return
		}
		c.mu.Lock()
		c.ran[m.Method]++
		if nth > 1 {
			c.second++
		}
		c.mu.Unlock()
		answer := `{"jsonrpc":"2.0","id":` + m.ID.String() + `,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"closer","version":"1"}}}`
		if m.Kind != jsonrpc.KindRequest {
			answer = ""
		}
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer)
		if c.after != nil && c.after(m.Method, nth) {
			return
		}
	}
}

func (c *closer) counts(method string) (ran, second int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ran[method], c.second
}

// workload is the leg of one session of it, and what it was told.
func (c *closer) workload() (upstream.Leg, <-chan struct{}) {
	c.t.Helper()
	c.start()
	closes := make(chan struct{}, 10)
	w := New(Config{Port: c.port, Path: "/mcp", Era: upstream.EraLegacy, Hold: time.Second, Hooks: Hooks{Closes: func() { closes <- struct{}{} }}})
	c.t.Cleanup(func() {
		ctx, stop := context.WithTimeout(context.Background(), time.Second)
		defer stop()
		w.Shutdown(ctx)
	})
	l, err := w.OpenSession(c.t.Context(), upstream.SessionRequest{Params: upstream.InitializeParams(upstream.Key{})})
	if err != nil {
		c.t.Fatal(err)
	}
	return l, closes
}

// What comes one after another on connections that are closed after each answer
// all arrives, and each call once. B0.5
func TestAWorkloadThatClosesEachConnection(t *testing.T) {
	c := &closer{t: t, after: func(string, int) bool { return true }}
	l, closes := c.workload()
	<-closes
	for n := range 200 {
		method := []string{"tools/call", "tools/list"}[n%2]
		if _, err := l.Call(t.Context(), peer.Request{Method: method, Params: []byte(`{"n":` + strconv.Itoa(n) + `}`)}); err != nil {
			t.Fatalf("%d: %v", n, err)
		}
	}
	if ran, _ := c.counts("tools/call"); ran != 100 {
		t.Errorf("100 calls ran %d times", ran)
	}
}

// One that closes a connection as a request comes: what only reads is made
// again; a call is not, its client is told why, and no other call meets the
// same.
func TestARequestThatMeetsTheClose(t *testing.T) { // B0.5, B3.8
	for method, reason := range map[string]peer.Reason{
		"tools/call": peer.Cut, "x/unknown": peer.Cut,
		"tools/list": "", "resources/read": "", "prompts/get": "", "ping": "", "logging/setLevel": "",
	} {
		t.Run(strings.ReplaceAll(method, "/", " "), func(t *testing.T) {
			var once sync.Once
			c := &closer{t: t, before: func(m string, nth int) (now bool) {
				if m == method && nth > 1 {
					once.Do(func() { now = true })
				}
				return now
			}}
			l, closes := c.workload()
			if _, err := l.Call(t.Context(), peer.Request{Method: method}); peer.ReasonOf(err) != reason {
				t.Errorf("%v", err)
			}
			<-closes
			_, before := c.counts("")
			for range 5 {
				if _, err := l.Call(t.Context(), peer.Request{Method: "tools/call"}); err != nil {
					t.Error(err)
				}
			}
			if _, after := c.counts(""); after != before {
				t.Errorf("%d of 5 calls came on a connection that had been used", after-before)
			}
		})
	}
}

// A connection that ends with its workload says nothing of the next one.
func TestTheEndOfAWorkloadIsNoHabit(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, w *Workload, s *server) {
		l := open(t, w)
		call(t, l, "tools/list", "")
		s.set(true)
		w.conns.closed()
		w.conns.wg.Wait()
		s.set(false)
		if w.conns.closes.Load() {
			t.Error("it is taken for one that closes connections")
		}
	})
}
