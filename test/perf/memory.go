package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
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
	// hostileID is the id in a body; each request has another of two digits.
	hostileID = `"id":10`
	// memoryFactor times the budget is what they may cost.
	memoryFactor = 3
)

// attack is a kind of body.
type attack struct {
	what string
	body func() []byte
}

// flood sends it in calls on one session.
func (a attack) flood(ctx context.Context, c *child) (served int, err error) {
	session, err := openSession(ctx, c.addr)
	if err != nil {
		return 0, err
	}
	return flood(ctx, c.addr, post(c.addr, string(a.body()), acceptBoth, "MCP-Protocol-Version: "+legacyRevision, "Mcp-Session-Id: "+session))
}

// hostile are bodies that are cheap to send and dear to take apart.
var hostile = []attack{
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
	const before, after = `{"jsonrpc":"2.0",` + hostileID + `,"method":"tools/call","params":{"name":"echo","arguments":{"text":`, `}}}`
	room := hostileBytes - len(before) - len(after) - len(head) - len(tail)
	return []byte(before + head + strings.Repeat(unit, room/len(unit)) + tail + after)
}

// memoryRows measures what the process grows to under hostile input, against
// the budget of buffered bytes.
func memoryRows(ctx context.Context, t *table) error {
	for _, h := range hostile {
		if err := memoryRow(ctx, t, roleServer, h.what, stream.DefaultBudget, h.flood); err != nil {
			return err
		}
	}
	last := hostile[len(hostile)-1]
	if err := memoryRow(ctx, t, roleTight, last.what+", a quarter of the budget", tightBudget, last.flood); err != nil {
		return err
	}
	evil, stop, err := serveEvil()
	if err != nil {
		return err
	}
	defer stop()
	if err := memoryRow(ctx, t, roleClients, "of one SSE field", stream.DefaultBudget, func(_ context.Context, c *child) (int, error) {
		_, err := c.ask(askPeer + " " + evil)
		return hostileBodies, err
	}); err != nil {
		return err
	}
	return memoryRow(ctx, t, roleLines, "of one stdio line without end", stream.DefaultBudget, func(_ context.Context, c *child) (int, error) {
		_, err := c.ask(askPeer)
		return hostileBodies, err
	})
}

// memoryRow compares the peak of a fresh child after attack with its idle size;
// budget is its budget of buffered bytes.
func memoryRow(ctx context.Context, t *table, role, what string, budget int64, attack func(context.Context, *child) (served int, err error)) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
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
	served, err := attack(ctx, c)
	if err != nil {
		return fmt.Errorf("bodies %s: %w", what, err)
	}
	if served < hostileBodies/4 {
		return fmt.Errorf("bodies %s: only %d of %d were looked at", what, served, hostileBodies)
	}
	after, err := c.ask(askUsage)
	if err != nil {
		return err
	}
	const mib = 1 << 20
	t.add(result{
		what: fmt.Sprintf("peak RSS over idle, %d × 4 MiB %s", hostileBodies, what), unit: " MiB",
		figure: float64(after.PeakRSS-idle.RSS) / mib, bar: float64(memoryFactor * budget / mib),
		detail: fmt.Sprintf("idle %d MiB; %d of them served, the others refused for want of room", idle.RSS/mib, served),
	})
	return nil
}

// flood sends the request over many connections, all but the last byte at
// first, and returns how many were served. The others were refused for want of
// room.
func flood(ctx context.Context, addr string, request []byte) (served int, err error) {
	release := make(chan struct{})
	errs := make([]error, hostileBodies)
	oks := make([]bool, hostileBodies)
	var sent, done sync.WaitGroup
	for i := range hostileBodies {
		request := bytes.Replace(request, []byte(hostileID), fmt.Appendf(nil, `"id":%d`, 10+i), 1)
		sent.Add(1)
		done.Go(func() {
			var once sync.Once
			arrived := func() { once.Do(sent.Done) }
			defer arrived()
			oks[i], errs[i] = floodOne(ctx, addr, request, arrived, release)
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
	for _, ok := range oks {
		if ok {
			served++
		}
	}
	return served, errors.Join(errs...)
}

// floodOne reports whether the request was served. Anything but an answer or a
// refusal for want of room is an error.
func floodOne(ctx context.Context, addr string, request []byte, arrived func(), release <-chan struct{}) (served bool, err error) {
	w, err := dialWire(ctx, addr)
	if err != nil {
		return false, err
	}
	defer w.close()
	defer context.AfterFunc(ctx, w.close)()
	_, err = w.conn.Write(request[:len(request)-1])
	arrived()
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return false, nil // refused before all of it was written
	} else if err != nil {
		return false, err
	}
	<-release
	var body bytes.Buffer
	h, err := w.roundTrip(request[len(request)-1:], &body)
	switch {
	case errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNRESET), err == nil && h.status == 503:
		return false, nil
	case err == nil && h.status != 200:
		// One that was taken for a repetition, say, would prove nothing.
		return false, fmt.Errorf("status %d: %.200q", h.status, body.Bytes())
	}
	return err == nil, err
}
