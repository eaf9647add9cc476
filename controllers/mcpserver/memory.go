package mcpserver

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/fairlead-dev/fairlead/controllers/internal/podfault"
)

// memory is what one server's reconciles tell the next one. All of it may be
// lost, with a restart, at the price of a second look; nothing of it decides
// what is written to a child.
type memory struct {
	uid types.UID
	// statusVersion is the resourceVersion of our last status write.
	statusVersion string
	// fault is the last fault of the template, kept for a while (O18).
	fault     *podfault.Fault
	faultSeen time.Time
	faultOf   string // the template hash it was about
	// reclaimed is when we last tried to take the Deployment's replicas back
	// from an autoscaler.
	reclaimed time.Time
	// touched is when a pod was last told of its live contract (O15).
	touched map[types.UID]time.Time
}

// memories holds one memory per server that exists. Safe for concurrent use; a
// memory itself is used by one reconcile at a time, because the queue hands a
// server to one worker at a time.
type memories struct {
	mu      sync.Mutex
	servers map[types.NamespacedName]*memory
}

func newMemories() *memories { return &memories{servers: map[types.NamespacedName]*memory{}} }

// of returns the memory of the server, a fresh one for another incarnation.
func (m *memories) of(key types.NamespacedName, uid types.UID) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known := m.servers[key]; known != nil && known.uid == uid {
		return known
	}
	fresh := &memory{uid: uid, touched: map[types.UID]time.Time{}}
	m.servers[key] = fresh
	return fresh
}

func (m *memories) drop(key types.NamespacedName) (types.UID, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	known, ok := m.servers[key]
	delete(m.servers, key)
	if !ok {
		return "", false
	}
	return known.uid, true
}
