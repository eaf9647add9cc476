package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestNullPassThrough(t *testing.T) {
	workload := httptest.NewServer(http.HandlerFunc(floorJSON))
	defer workload.Close()
	h := newHop()
	if err := h.tell(workload.URL + "/mcp"); err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]http.Handler{"null": http.HandlerFunc(h.nullPass), "httputil": h.reverseProxy()} {
		t.Run(name, func(t *testing.T) {
			front := httptest.NewServer(handler)
			defer front.Close()
			addr := strings.TrimPrefix(front.URL, "http://")
			if err := hammer(t.Context(), addr, legacyCall(addr, "s", acceptBoth), echoed, 2, 6); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestTheWorkloadOnLines(t *testing.T) {
	for name, test := range map[string]struct{ in, want string }{
		"a call":         {strings.Replace(toolCall, "%s", "", 1), `{"id":70,"jsonrpc":"2.0","result":{"content":[{"text":"` + echoed + `","type":"text"}]}}`},
		"a handshake":    {initialize, `{"id":1,"jsonrpc":"2.0","result":{"capabilities":{"tools":{}},"protocolVersion":"` + legacyRevision + `","serverInfo":{"name":"lines","version":"1"}}}`},
		"a notification": {initialized, ""},
		"anything else":  {`{"jsonrpc":"2.0","id":"x","method":"server/discover"}`, `{"error":{"code":-32601,"message":"method not found"},"id":"x","jsonrpc":"2.0"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := serveLines(strings.NewReader(test.in+"\n"), &out); err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSuffix(out.String(), "\n"); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestCPUTimeOfAProcess(t *testing.T) {
	before, err := cpuOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Second); time.Now().Before(end); {
		after, err := cpuOf(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		if after > before {
			return
		}
	}
	t.Error("the clock does not move")
}

func TestDescent(t *testing.T) {
	parents := map[int]int{2: 1, 5: 2, 6: 5, 7: 1}
	for pid, want := range map[int]bool{2: false, 5: true, 6: true, 7: false, 9: false} {
		if got := descends(parents, pid, 2); got != want {
			t.Errorf("%d: %v", pid, got)
		}
	}
}

func TestRatioIsThatOfNeighbours(t *testing.T) {
	ours, null := &program{cost: []float64{20, 200, 33}}, &program{cost: []float64{10, 100, 10}}
	if got := ratio(ours.cost, null.cost); got != 2 {
		t.Errorf("ratio %v", got)
	}
	calls := 0
	p := &program{name: "x", pid: os.Getpid(), work: func(_ context.Context, n int) error { calls += n; return nil }}
	if err := cycle(t.Context(), []*program{p}, 3, 10); err != nil {
		t.Fatal(err)
	}
	if calls != 40 || len(p.cost) != 3 {
		t.Errorf("%d calls, %d rounds count", calls, len(p.cost))
	}
}
