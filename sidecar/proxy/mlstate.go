package proxy

import (
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/sidecar/proxy/park"
)

// mlState is what the pairing of modern clients with a legacy workload keeps.
type mlState struct {
	parked    *park.Store
	habits    habits
	lanes     lanes
	inits     initCache
	outings   outings
	audiences audiences
}

func (s *mlState) begin(cfg Config) {
	s.habits.how = cfg.Leasing
	s.parked = park.New(park.Config{Keys: cfg.Keys, Pod: cfg.Pod, Limits: cfg.Parking, Hooks: cfg.Hooks.Parking})
}

// Close ends what waits for clients: the calls of a legacy workload that are
// parked. It does not wait.
func (p *Proxy) Close() { p.parking.parked.Close() }

// maxInits bounds the answers to initialize that are remembered.
const maxInits = 256

// initCache remembers what the workload said of itself to clients of a
// fingerprint. The zero value is ready.
type initCache struct {
	mu sync.Mutex
	by map[string]*peer.Init
}

func (c *initCache) get(capabilities string) (*peer.Init, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	in, ok := c.by[capabilities]
	return in, ok
}

func (c *initCache) put(capabilities string, in *peer.Init) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil || len(c.by) >= maxInits && c.by[capabilities] == nil {
		c.by = map[string]*peer.Init{} // clients choose fingerprints: no more than a bound
	}
	c.by[capabilities] = in
}
