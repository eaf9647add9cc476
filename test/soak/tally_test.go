package soak

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// tally counts what came of what. Safe for concurrent use.
type tally struct {
	mu     sync.Mutex
	counts map[string]map[string]int
	done   map[string]string // tools that answered, by token
}

func newTally() *tally {
	return &tally{counts: map[string]map[string]int{}, done: map[string]string{}}
}

// add counts an action with its failure, "" for none.
func (t *tally) add(action, failure string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[action] == nil {
		t.counts[action] = map[string]int{}
	}
	t.counts[action][failure]++
}

// answered notes that a tool said that it did what a token asked for.
func (t *tally) answered(tool, token string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.done[token] = tool
}

func (t *tally) worked(action string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[action][""]
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out strings.Builder
	for _, action := range slices.Sorted(maps.Keys(t.counts)) {
		of := t.counts[action]
		fmt.Fprintf(&out, "  %-10s %6d", action, of[""])
		for _, failure := range slices.Sorted(maps.Keys(of)) {
			if failure != "" {
				fmt.Fprintf(&out, ", %d %s", of[failure], failure)
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}
