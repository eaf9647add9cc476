package ndjson

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"
)

// onPipe makes a Conn that writes to a pipe of the operating system, whose
// other end is returned. Nothing comes from the peer until the end.
func onPipe(t *testing.T, cfg Config) (c *Conn, in *os.File) {
	t.Helper()
	in, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	out, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cfg.In, cfg.Out = inW, out
	if cfg.Deliver == nil {
		cfg.Deliver = func(Line) {}
	}
	c = Open(cfg)
	t.Cleanup(func() {
		c.Close(nil)
		_ = in.Close()
		_ = outW.Close()
		c.Wait()
	})
	return c, in
}

// D7: whoever sends, and however full the pipe is: lines come whole, and those
// of one sender in order.
func TestLinesPastTheQueue(t *testing.T) {
	for _, senders := range []int{1, 8} {
		t.Run(fmt.Sprint(senders), func(t *testing.T) { linesPastTheQueue(t, senders) })
	}
}

func linesPastTheQueue(t *testing.T, senders int) {
	const each = 400
	c, in := onPipe(t, Config{QueueMessages: 16})
	var wg sync.WaitGroup
	for s := range senders {
		var msgs [][]byte // made before, so that they come close upon each other
		for n := range each {
			// From a few bytes to more than the pipe takes at once, or than
			// goes past the queue.
			size := []int{1, 100, 5000, maxDirect + 1}[(s+n)%4]
			msgs = append(msgs, fmt.Appendf(nil, `{"s":%d,"n":%d,"x":"%s"}`, s, n, strings.Repeat("y", size)))
		}
		wg.Go(func() {
			for _, msg := range msgs {
				if err := c.Send(t.Context(), msg); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	finished := make(chan error, 1)
	go func() {
		wg.Wait()
		finished <- c.Finish(t.Context())
	}()
	next := make([]int, senders)
	lines := bufio.NewReaderSize(in, 1<<10)
	for range senders * each {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		var s, n int
		if _, err := fmt.Sscanf(line, `{"s":%d,"n":%d,`, &s, &n); err != nil || n != next[s] || !strings.HasSuffix(line, "y\"}\n") || strings.Count(line, "{") != 1 {
			t.Fatalf("line %.40q of %d bytes, want number %v (%v)", line, len(line), next, err)
		}
		next[s]++
	}
	if err := <-finished; err != nil {
		t.Error(err)
	}
	if more, err := lines.ReadString('\n'); err == nil || more != "" {
		t.Errorf("more came: %.40q", more)
	}
}

// A peer that does not read is found out all the same, and whoever sends to it
// is not held up.
func TestNobodyWaitsForAPipe(t *testing.T) {
	c, _ := onPipe(t, Config{WriteTimeout: time.Millisecond})
	for range 200 { // more than a pipe holds, less than pipe and queue do
		full, err := c.TrySend([]byte(`{"x":"` + strings.Repeat("y", 1000) + `"}`))
		if full {
			t.Fatal("the queue is full")
		}
		if err != nil {
			break // it has been found out already
		}
	}
	<-c.Done()
	if !errors.Is(c.Err(), ErrStalled) {
		t.Errorf("ended with %v", c.Err())
	}
}

// A peer that has closed its input is found by the writer, as ever.
func TestPipeThatIsClosed(t *testing.T) {
	c, in := onPipe(t, Config{})
	_ = in.Close()
	_ = c.Send(t.Context(), []byte(`{}`))
	<-c.written
	if err := c.Send(t.Context(), []byte(`{}`)); !errors.Is(err, ErrEnded) {
		t.Errorf("sent: %v", err)
	}
}
