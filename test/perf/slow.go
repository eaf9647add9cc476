package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	slowRuns    = 9
	slowHealthy = 200
	// slowFill messages of slowFillBytes are more than what a connection with
	// small buffers and the smallest stream window takes.
	slowFill      = 24
	slowFillBytes = 16 << 10
	// slowTold are sent to everybody in the measured part.
	slowTold      = 100
	slowToldBytes = 1 << 10
)

// slowRows measures what stalled readers do to others: how long a
// notification to all takes to reach the healthy ones, with and without them,
// in turn, in one process.
func slowRows(ctx context.Context, t *table) (err error) {
	c, err := start(ctx, roleSlow)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop()) }()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	readers := make([]*wire, slowHealthy)
	for i := range readers {
		if readers[i], err = openStream(ctx, c.addr); err != nil {
			return err
		}
		defer readers[i].close()
	}
	var free, held, worst []float64
	for i := range slowRuns {
		// Which comes first changes, so that neither has the warmer caches.
		for _, stalled := range []bool{i%2 == 0, i%2 != 0} {
			delays, err := slowRun(ctx, c, readers, stalled)
			if err != nil {
				return err
			}
			if stalled {
				held, worst = append(held, p99(delays)), append(worst, delays[len(delays)-1])
			} else {
				free = append(free, p99(delays))
			}
		}
	}
	t.add(result{
		what: "p99 of a broadcast with two stalled readers against none", figure: median(held) / median(free), bar: 1.10, unit: " ×",
		detail: fmt.Sprintf("%d healthy streams, one stalled by TCP, one by HTTP/2; p99 %.1f ms against %.1f ms", slowHealthy, median(held)*1000, median(free)*1000),
	})
	t.add(result{
		what: "broadcast reaches all healthy readers", figure: slices.Max(worst), bar: 1, unit: " s",
		detail: fmt.Sprintf("worst of %d messages in %d runs", slowTold, slowRuns),
	})
	return nil
}

// slowRun returns the sorted delays in seconds of what all readers are told.
func slowRun(ctx context.Context, c *child, readers []*wire, stalled bool) ([]float64, error) {
	if stalled {
		for _, stall := range []func(context.Context, string) (io.Closer, error){stallTCP, stallHTTP2} {
			closer, err := stall(ctx, c.addr)
			if err != nil {
				return nil, err
			}
			defer closer.Close()
		}
		// Everybody is told enough to fill what the stalled ones have; the
		// healthy ones read it too.
		if _, err := slowTell(ctx, c, readers, slowFill, slowFillBytes); err != nil {
			return nil, err
		}
	}
	delays, err := slowTell(ctx, c, readers, slowTold, slowToldBytes)
	if err != nil {
		return nil, err
	}
	u, err := c.ask(askUsage)
	if err != nil {
		return nil, err
	}
	// Each stalled reader has at least what was told in the measured part
	// before it.
	if least := int64(2 * slowTold * slowToldBytes); stalled && u.Backlog < least {
		return nil, fmt.Errorf("%d bytes wait for the stalled readers, want %d: they do not stall", u.Backlog, least)
	}
	slices.Sort(delays)
	return delays, nil
}

// slowTell tells all readers something and returns how long each message was
// under way to each.
func slowTell(ctx context.Context, c *child, readers []*wire, n, size int) ([]float64, error) {
	var wg sync.WaitGroup
	each := make([][]float64, len(readers))
	errs := make([]error, len(readers))
	for i, w := range readers {
		wg.Go(func() { each[i], errs[i] = readTold(ctx, w, n) })
	}
	if _, err := c.ask(fmt.Sprint(askTell, " ", n, " ", size)); err != nil {
		return nil, err
	}
	wg.Wait()
	return slices.Concat(each...), errors.Join(errs...)
}

// openStream opens a session and its standalone stream over w.
func openStream(ctx context.Context, addr string) (*wire, error) {
	w, err := dialWire(ctx, addr)
	if err != nil {
		return nil, err
	}
	session, err := handshake(w, addr)
	if err != nil {
		w.close()
		return nil, err
	}
	if _, err := w.conn.Write(getStream(addr, session)); err != nil {
		w.close()
		return nil, err
	}
	h, err := w.readHead()
	if err == nil && h.status != http.StatusOK {
		err = fmt.Errorf("GET: status %d", h.status)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func getStream(addr, session string) []byte {
	return fmt.Appendf(nil, "GET /mcp HTTP/1.1\r\nHost: %s\r\n%s\r\nMCP-Protocol-Version: %s\r\nMcp-Session-Id: %s\r\n\r\n", addr, acceptSSE, legacyRevision, session)
}

// sentMark precedes the time of sending in a notification.
const sentMark = `"sent":`

// readTold reads n notifications and returns how long each was under way.
func readTold(ctx context.Context, w *wire, n int) ([]float64, error) {
	defer context.AfterFunc(ctx, w.close)()
	var out []float64
	var rest []byte
	buf := make([]byte, 64<<10)
	for len(out) < n {
		chunk, err := w.readChunk(buf)
		if err != nil {
			return nil, fmt.Errorf("after %d of %d notifications: %w", len(out), n, err)
		}
		if len(chunk) == 0 {
			return nil, fmt.Errorf("the stream ended after %d of %d notifications", len(out), n)
		}
		rest = append(rest, chunk...)
		now := time.Now().UnixNano()
		for {
			end := bytes.Index(rest, []byte("\n\n"))
			if end < 0 {
				break
			}
			if i := bytes.Index(rest[:end], []byte(sentMark)); i >= 0 {
				text, _, _ := bytes.Cut(rest[i+len(sentMark):end], []byte(","))
				sent, err := strconv.ParseInt(string(text), 10, 64)
				if err != nil {
					return nil, err
				}
				out = append(out, float64(now-sent)/1e9)
			}
			rest = rest[end+2:]
		}
	}
	return out, nil
}

// stallTCP opens a stream that is never read, with the smallest of windows.
func stallTCP(ctx context.Context, addr string) (io.Closer, error) {
	w, err := openStream(ctx, addr)
	if err != nil {
		return nil, err
	}
	if err := w.conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		w.close()
		return nil, err
	}
	return w.conn, nil
}

// stallHTTP2 opens one whose HTTP/2 window is never renewed.
func stallHTTP2(ctx context.Context, addr string) (io.Closer, error) {
	session, err := openSession(ctx, addr)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: 64 << 10}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/mcp", nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	req.Header.Set("MCP-Protocol-Version", legacyRevision)
	req.Header.Set("Mcp-Session-Id", session)
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 2 {
		return nil, errors.Join(fmt.Errorf("GET: status %d over %s", resp.StatusCode, resp.Proto), resp.Body.Close())
	}
	return resp.Body, nil
}
