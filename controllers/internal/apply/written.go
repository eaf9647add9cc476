package apply

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fairlead-dev/fairlead/controllers/internal/ownership"
)

// written remembers the resource version of our last write per child, so that
// a cache which has not seen it yet is not mistaken for drift: that would send
// the write, and tell its event, twice. Bounded by the number of children of
// live owners.
type written struct {
	mu     sync.Mutex
	owners map[ownerKey]map[childKey]string
}

type ownerKey struct{ namespace, name string }

type childKey struct{ kind, name string }

func newWritten() *written { return &written{owners: map[ownerKey]map[childKey]string{}} }

func (w *written) wrote(o ownership.Owner, obj client.Object) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := ownerKey{o.Namespace, o.Name}
	if w.owners[k] == nil {
		w.owners[k] = map[childKey]string{}
	}
	w.owners[k][childKey{obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName()}] = obj.GetResourceVersion()
}

// current reports whether obj, read from the cache, is at least as new as our
// last write of it; if so the note is dropped.
func (w *written) current(o ownership.Owner, kind string, obj client.Object) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	notes, key := w.owners[ownerKey{o.Namespace, o.Name}], childKey{kind, obj.GetName()}
	rv, ok := notes[key]
	if !ok {
		return true
	}
	// An unreadable version counts as current: the price is one extra write.
	if order, err := resourceversion.CompareResourceVersion(obj.GetResourceVersion(), rv); err == nil && order < 0 {
		return false
	}
	delete(notes, key)
	return true
}

func (w *written) forget(namespace, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.owners, ownerKey{namespace, name})
}
