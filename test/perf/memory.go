package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

const (
	// hostileBodies arrive at once, each of hostileBytes.
	hostileBodies = 64
	hostileBytes  = 4 << 20
	// hostileWait is how long the last byte of each is held back, so that all
	// lie in memory together.
	hostileWait = 3 * time.Second
	// memoryFactor times the budget is what they may cost.
	memoryFactor = 3
)

// hostile are bodies that are cheap to send and dear to take apart.
var hostile = []struct {
	what string
	body func() []byte
}{
	{"of keys", func() []byte {
		var object strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&object, `"k%d":%d,`, i, i)
		}
		return fill(`[`, "{"+strings.TrimSuffix(object.String(), ",")+"},", `0]`)
	}},
	{"of nesting", func() []byte {
		return fill(`[`, strings.Repeat("[", 100)+strings.Repeat("]", 100)+",", `0]`)
	}},
	{"of one string", func() []byte { return fill(`"`, "a", `"`) }},
}

// fill makes a call whose argument is head, unit repeated, tail.
func fill(head, unit, tail string) []byte {
	const before, after = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":`, `}}}`
	room := hostileBytes - len(before) - len(after) - len(head) - len(tail)
	return []byte(before + head + strings.Repeat(unit, room/len(unit)) + tail + after)
}

// memoryRows measures what the process grows to under hostile input, against
// the budget of buffered bytes.
func memoryRows(ctx context.Context, t *table) error {
	for _, h := range hostile {
		err := memoryRow(ctx, t, roleServer, h.what, func(ctx context.Context, c *child) error {
			session, err := openSession(ctx, c.addr)
			if err != nil {
				return err
			}
			return flood(ctx, c.addr, post(c.addr, string(h.body()), acceptBoth, "MCP-Protocol-Version: "+legacyRevision, "Mcp-Session-Id: "+session))
		})
		if err != nil {
			return err
		}
	}
	evil, stop, err := serveEvil()
	if err != nil {
		return err
	}
	defer stop()
	if err := memoryRow(ctx, t, roleClients, "of one SSE field", func(_ context.Context, c *child) error {
		_, err := c.ask(askPeer + " " + evil)
		return err
	}); err != nil {
		return err
	}
	return memoryRow(ctx, t, roleLines, "of one stdio line without end", func(_ context.Context, c *child) error {
		_, err := c.ask(askPeer)
		return err
	})
}

// memoryRow compares the peak of a fresh child after attack with its idle size.
func memoryRow(ctx context.Context, t *table, role, what string, attack func(context.Context, *child) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c, err := start(ctx, role)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	idle, err := c.ask(askSettled)
	if err != nil {
		return err
	}
	if err := attack(ctx, c); err != nil {
		return fmt.Errorf("bodies %s: %w", what, err)
	}
	after, err := c.ask(askUsage)
	if err != nil {
		return err
	}
	const mib = 1 << 20
	t.add(result{
		what: fmt.Sprintf("peak RSS over idle, %d × 4 MiB %s", hostileBodies, what), unit: " MiB",
		figure: float64(after.PeakRSS-idle.RSS) / mib, bar: memoryFactor * stream.DefaultBudget / mib,
		detail: fmt.Sprintf("idle %d MiB", idle.RSS/mib),
	})
	return nil
}

// flood sends the request over many connections, all but the last byte at
// first, and reads what comes back. Being refused is a fine answer; none is
// not.
func flood(ctx context.Context, addr string, request []byte) error {
	release := make(chan struct{})
	errs := make([]error, hostileBodies)
	var sent, done sync.WaitGroup
	for i := range hostileBodies {
		sent.Add(1)
		done.Go(func() {
			var once sync.Once
			arrived := func() { once.Do(sent.Done) }
			defer arrived()
			errs[i] = floodOne(ctx, addr, request, arrived, release)
		})
	}
	all := make(chan struct{})
	go func() { sent.Wait(); close(all) }()
	select {
	case <-all:
	case <-time.After(hostileWait):
	}
	close(release)
	done.Wait()
	return errors.Join(errs...)
}

func floodOne(ctx context.Context, addr string, request []byte, arrived func(), release <-chan struct{}) error {
	w, err := dialWire(ctx, addr)
	if err != nil {
		return err
	}
	defer w.close()
	defer context.AfterFunc(ctx, w.close)()
	var body bytes.Buffer
	// A server that refuses early closes while we still write: then what it
	// said counts.
	_, writeErr := w.conn.Write(request[:len(request)-1])
	arrived()
	<-release
	h, err := w.roundTrip(request[len(request)-1:], &body)
	if err != nil {
		return errors.Join(writeErr, err)
	}
	if h.status != 200 && h.status/100 != 4 {
		return fmt.Errorf("status %d: %.200q", h.status, body.Bytes())
	}
	return nil
}
