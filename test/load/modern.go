package load

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// modern is a client of 2026-07-28: no session, calls at a fixed rate.
type modern struct {
	*base
	mu sync.Mutex // guards me
}

func (m *modern) run(ctx context.Context, index int) {
	period := time.Duration(float64(time.Second) * float64(m.cfg.Modern) / m.cfg.Rate)
	slots := make(chan struct{}, maxInFlight)
	var wg sync.WaitGroup
	defer wg.Wait()
	// Spread the clients over one period.
	wait := time.NewTimer(period * time.Duration(index) / time.Duration(m.cfg.Modern))
	defer wait.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wait.C:
		}
		wait.Reset(period)
		select {
		case slots <- struct{}{}:
		default:
			m.col.skip()
			continue
		}
		tool, slow, d := m.next()
		id := m.n
		wg.Go(func() {
			defer func() { <-slots }()
			// Calls in flight outlive the issuing context.
			call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
			defer cancel()
			m.call(call, id, tool, slow, d)
		})
	}
}

func (m *modern) call(ctx context.Context, id int, tool Tool, slow bool, d time.Duration) {
	begun := time.Now()
	text, err := m.post(ctx, id, tool, d)
	m.mu.Lock()
	m.me.Calls++
	if err != nil {
		m.me.Failed++
	}
	m.mu.Unlock()
	if err != nil {
		m.col.failed(m.me.Name, fmt.Sprintf("#%d %s", id, tool.Name), err)
		return
	}
	pod := ""
	if !slow {
		pod = m.pod(text)
	}
	m.col.answered(m.me.Name, slow, begun, pod)
}

func (m *modern) post(ctx context.Context, id int, tool Tool, d time.Duration) (string, error) {
	req := request(ctx, http.MethodPost, m.cfg.URL, modernCall(id, tool.Name, tool.args(d)), map[string]string{
		"MCP-Protocol-Version": modernRevision,
		"Mcp-Method":           "tools/call",
		"Mcp-Name":             tool.Name,
	})
	c, resp, finish, err := m.send(ctx, req)
	if err != nil {
		return "", err
	}
	r, err := readCall(resp, id)
	if err != nil {
		c.close()
		return "", err
	}
	finish()
	m.pool.put(c)
	return r.text()
}

// send writes req on a connection of the pool. A connection that turns out to
// be closed before anything was written is replaced: that is no retry.
func (b *base) send(ctx context.Context, req *http.Request) (*conn, *http.Response, func(), error) {
	for {
		c, err := b.pool.get(ctx)
		if err != nil {
			return nil, nil, nil, err
		}
		resp, finish, err := c.do(ctx, req)
		if errors.Is(err, errConnDead) {
			continue
		}
		return c, resp, finish, err
	}
}

// errGone is a 404: the session is over, the request was not accepted.
var errGone = errors.New("404: the session is gone")

func readCall(resp *http.Response, id int) (*reply, error) {
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusNotFound {
			return nil, errGone
		}
		return nil, fmt.Errorf("HTTP %s: %.300s", resp.Status, body)
	}
	return answer(resp, id)
}
