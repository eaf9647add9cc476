// Package keys brings the mounted key Secret into a keyring and keeps it
// fresh: D9's keys rotate while pods run (O8).
//
// It owns the layout of the Secret. It must not know what is sealed with the
// keys, and never puts a key or a file's content into an error or a log.
package keys

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/mount"
)

// maxKeys bounds how many keys a Secret may hold. Two are in use while one is
// being replaced.
const maxKeys = 16

// Loader loads a directory into a keyring. Its fields are read-only once it is
// used; its methods may be called concurrently.
type Loader struct {
	// Dir is the mounted Secret.
	Dir string
	// Ring receives the keys. Bad content leaves it as it is.
	Ring *seal.Keyring
	// Observe is told of every change: what is loaded now, and what is wrong
	// with the newest content, nil if nothing. It may be nil.
	Observe func(ids []string, sealWith string, err error)

	mu   sync.Mutex
	seen [sha256.Size]byte // of the content that was last judged
	now  config.KeyStatus
}

// Run loads, and loads again whenever the mount changes, until ctx ends.
func (l *Loader) Run(ctx context.Context) {
	w := mount.Watcher{Dir: l.Dir, Changed: func() { _ = l.Load() }}
	w.Run(ctx)
}

// Load reads the directory once. The error says what is wrong, and the keys
// that were loaded before stay in use.
func (l *Loader) Load() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	files, err := mount.Read(l.Dir, maxKeys+1, 4*config.KeyBytes)
	if err != nil {
		return l.failed(sha256.Sum256([]byte(err.Error())), err)
	}
	digest := digestOf(files)
	if digest == l.seen {
		return nil // also when it is still as bad as it was: said once
	}
	keys, sealWith, err := parse(files)
	if err == nil {
		err = l.Ring.Load(keys, sealWith)
	}
	if err != nil {
		return l.failed(digest, err)
	}
	l.seen = digest
	l.now = config.KeyStatus{SealWith: sealWith}
	for _, k := range keys {
		l.now.IDs = append(l.now.IDs, k.ID)
	}
	l.observe(nil)
	return nil
}

// Status tells what is loaded. SealWith is empty until the first success.
func (l *Loader) Status() config.KeyStatus {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.now
	s.IDs = slices.Clone(s.IDs)
	return s
}

// failed notes bad content; the lock is held.
func (l *Loader) failed(digest [sha256.Size]byte, err error) error {
	err = fmt.Errorf("keys: %w", err)
	if digest != l.seen {
		l.seen = digest
		l.now.Error = err.Error()
		l.observe(err)
	}
	return err
}

func (l *Loader) observe(err error) {
	if l.Observe != nil {
		l.Observe(l.now.IDs, l.now.SealWith, err)
	}
}

// parse reads the Secret's entries: SealWith and one key per id.
func parse(files map[string][]byte) (keys []seal.Key, sealWith string, err error) {
	text, ok := files[config.SealWith]
	if !ok {
		return nil, "", fmt.Errorf("entry %s is missing", config.SealWith)
	}
	sealWith = strings.TrimSpace(string(text))
	for _, id := range slices.Sorted(maps.Keys(files)) {
		if id == config.SealWith {
			continue
		}
		if !validID(id) {
			return nil, "", fmt.Errorf("entry %q is no key id: 1 to %d of a-z and 0-9", id, config.MaxKeyID)
		}
		if n := len(files[id]); n != config.KeyBytes {
			return nil, "", fmt.Errorf("key %s has %d bytes, want %d", id, n, config.KeyBytes)
		}
		keys = append(keys, seal.Key{ID: id, Secret: files[id]})
	}
	// The ring's own message would quote sealWith, which could be a key that
	// somebody pasted into the wrong entry.
	if !slices.ContainsFunc(keys, func(k seal.Key) bool { return k.ID == sealWith }) {
		return nil, "", fmt.Errorf("entry %s does not name one of the %d keys", config.SealWith, len(keys))
	}
	return keys, sealWith, nil
}

func validID(id string) bool {
	if id == "" || len(id) > config.MaxKeyID {
		return false
	}
	return strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

func digestOf(files map[string][]byte) [sha256.Size]byte {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %d\n", name, len(files[name]))
		h.Write(files[name])
	}
	return [sha256.Size]byte(h.Sum(nil))
}
