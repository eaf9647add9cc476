package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"
)

// Run drives the clients of cfg until its duration is over or ctx ends, lets
// the calls in flight finish, and reports. The error is about the
// configuration only: what the endpoint does is in the report.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, err
	}
	addr := u.Host
	if u.Port() == "" {
		addr += ":80"
	}
	col := &collector{start: time.Now(), pods: map[string]int{}}
	issue, stop := context.WithTimeout(ctx, cfg.Duration)
	defer stop()

	clients := make([]Client, cfg.Modern+cfg.Legacy)
	var wg sync.WaitGroup
	for i := range clients {
		b := base{
			cfg: cfg, col: col, pool: pool{addr: addr},
			rand: rand.New(rand.NewPCG(cfg.Seed, uint64(i))),
		}
		wg.Go(func() {
			defer b.pool.close()
			if i < cfg.Modern {
				b.me = &clients[i]
				*b.me = Client{Name: fmt.Sprintf("modern-%03d", i), Revision: modernRevision}
				(&modern{base: &b}).run(issue, i)
				return
			}
			b.me = &clients[i]
			*b.me = Client{Name: fmt.Sprintf("legacy-%03d", i-cfg.Modern), Revision: legacyRevision}
			(&legacy{base: &b}).run(issue)
		})
	}
	wg.Wait()
	return col.report(clients), nil
}

// base is what both kinds of client have.
type base struct {
	cfg  Config
	col  *collector
	me   *Client
	pool pool
	rand *rand.Rand // of the issuing goroutine only
	n    int        // calls issued
}

// next picks the next call: every second one is slow.
func (b *base) next() (tool Tool, slow bool, d time.Duration) {
	b.n++
	if b.cfg.Slow.Name == "" || b.n%2 == 1 {
		return b.cfg.Fast, false, 0
	}
	d = b.cfg.SlowMin
	if span := b.cfg.SlowMax - b.cfg.SlowMin; span > 0 {
		d += time.Duration(b.rand.Int64N(int64(span)))
	}
	return b.cfg.Slow, true, d
}

// pod finds the answering pod in a result.
func (b *base) pod(text string) string {
	if b.cfg.Pod == nil {
		return ""
	}
	if m := b.cfg.Pod.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}
