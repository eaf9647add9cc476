// Package live holds the live contract in force and follows its mount.
//
// It owns which file counts (the newest version this build reads), and that a
// file which cannot be read leaves the last good one in force (D6). What a
// contract changes is up to whoever asks for it; it must not know them.
package live

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/mount"
)

// maxFiles bounds the mount: one file per contract version.
const maxFiles = 16

// Contract is a loaded live contract. It is never changed.
type Contract struct {
	config.Live
	// Digest identifies the content, as EncodeLive computed it.
	Digest string
}

// Store follows a directory. Its fields are read-only once it is used; its
// methods may be called concurrently.
type Store struct {
	// Dir is the mounted ConfigMap.
	Dir string
	// Changed is called when the newest content has come into force, or with
	// an error and the contract that stays in force (nil if there is none yet)
	// when it cannot be used. Each content is told once. It may be nil and is
	// never called concurrently.
	Changed func(now *Contract, err error)

	looking sync.Mutex // held while the directory is judged, before mu
	now     atomic.Pointer[Contract]
	mu      sync.Mutex
	fault   string // what is wrong with the newest content
}

// Fixed returns a Store that holds one contract and follows nothing; its Run
// only waits.
func Fixed(l config.Live) (*Store, error) {
	gz, _, err := config.EncodeLive(l)
	if err != nil {
		return nil, err
	}
	s := &Store{}
	_, err = s.use(gz)
	return s, err
}

// Current is the contract in force, nil before the first good one.
func (s *Store) Current() *Contract { return s.now.Load() }

// Fault tells what is wrong with the newest content; empty when it is in force.
func (s *Store) Fault() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// Run follows the directory until ctx ends.
func (s *Store) Run(ctx context.Context) {
	if s.Dir == "" {
		<-ctx.Done()
		return
	}
	w := mount.Watcher{Dir: s.Dir, Changed: s.look}
	w.Run(ctx)
}

// look judges the directory as it is now.
func (s *Store) look() {
	s.looking.Lock()
	defer s.looking.Unlock()
	fresh, err := s.load()
	text := ""
	if err != nil {
		text = err.Error()
	}
	s.mu.Lock()
	changed := fresh || s.fault != text
	s.fault = text
	s.mu.Unlock()
	if changed && s.Changed != nil {
		s.Changed(s.now.Load(), err)
	}
}

// load puts the newest content in force and reports whether that is news.
func (s *Store) load() (fresh bool, err error) {
	files, err := mount.Read(s.Dir, maxFiles, config.MaxLiveBytes)
	if err != nil {
		return false, fmt.Errorf("live contract: %w", err)
	}
	// Only the newest version counts: an older file beside it says less.
	for _, v := range config.ContractVersions() {
		if gz, ok := files[config.LiveKey(v)]; ok {
			return s.use(gz)
		}
	}
	return false, fmt.Errorf("live contract: no file of a version that this build reads (%v) in %s", config.ContractVersions(), s.Dir)
}

func (s *Store) use(gz []byte) (fresh bool, err error) {
	l, digest, err := config.DecodeLive(gz)
	if err != nil {
		return false, err
	}
	if was := s.now.Load(); was != nil && was.Digest == digest {
		return false, nil
	}
	s.now.Store(&Contract{Live: l, Digest: digest})
	return true, nil
}
