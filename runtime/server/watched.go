package server

import "sync"

// interest counts who watches which resource, in both eras, and tells the
// program behind the server when it has to look at one, and when no longer.
type interest struct {
	tell func(uri string, watched bool)

	// mu is held while tell runs, so that it hears things in their order.
	mu    sync.Mutex
	count map[string]int
}

func (i *interest) add(uri string) {
	if i.tell == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.count == nil {
		i.count = map[string]int{}
	}
	i.count[uri]++
	if i.count[uri] == 1 {
		i.tell(uri, true)
	}
}

func (i *interest) remove(uris map[string]struct{}) {
	if i.tell == nil {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for uri := range uris {
		if i.count[uri]--; i.count[uri] > 0 {
			continue
		}
		delete(i.count, uri)
		i.tell(uri, false)
	}
}
