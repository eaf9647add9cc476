package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Bounds of a token file.
const (
	maxFileBytes  = 4 << 20
	defaultReread = 10 * time.Second
)

// StaticFile checks tokens against a file that may change while it runs, such as
// a mounted Secret. A line is
//
//	principal token [scope …] [expires=2027-01-31T00:00:00Z]
//
// separated by blanks; the token may be "sha256:" and its hex digest. Empty
// lines and lines that begin with # say nothing. A principal may have several
// lines, which is how one rotates.
//
// The file is read again by the first request after Reread: a token that was
// taken out works at most that long. A file that cannot be read, or has a fault
// in any line, changes nothing: the last good one stays, and Reloaded hears why.
// It is safe for concurrent use; its fields may not change.
type StaticFile struct {
	Path string
	// Reread is the least time between two readings [10 s].
	Reread time.Duration
	// Reloaded hears of every reading: how many tokens there are now, and the
	// error if the reading failed. It may be nil and must not block.
	Reloaded func(tokens int, err error)

	mu   sync.Mutex // held by the one that reads
	next atomic.Pointer[time.Time]
	set  atomic.Pointer[Static]
}

// OpenStaticFile reads the file for the first time; then a fault in it is an
// error.
func OpenStaticFile(path string) (*StaticFile, error) {
	f := &StaticFile{Path: path}
	set, err := readStatic(path)
	if err != nil {
		return nil, err
	}
	f.set.Store(set)
	f.due(time.Now())
	return f, nil
}

// Check implements Checker.
func (f *StaticFile) Check(ctx context.Context, token string, r *http.Request) (*Identity, error) {
	f.refresh(time.Now())
	set := f.set.Load()
	if set == nil {
		return nil, errors.New("auth: the token file has not been readable yet")
	}
	return set.Check(ctx, token, r)
}

// refresh reads the file if it is time. Who comes while another reads goes on
// with what there is, unless there is nothing yet.
func (f *StaticFile) refresh(now time.Time) {
	if next := f.next.Load(); next != nil && now.Before(*next) {
		return
	}
	if f.set.Load() == nil {
		f.mu.Lock()
	} else if !f.mu.TryLock() {
		return
	}
	defer f.mu.Unlock()
	if next := f.next.Load(); next != nil && now.Before(*next) {
		return // read while we waited
	}
	set, err := readStatic(f.Path)
	if err == nil {
		f.set.Store(set)
	}
	f.due(now)
	if f.Reloaded != nil {
		tokens := 0
		if have := f.set.Load(); have != nil {
			tokens = have.Len()
		}
		f.Reloaded(tokens, err)
	}
}

func (f *StaticFile) due(now time.Time) {
	reread := f.Reread
	if reread <= 0 {
		reread = defaultReread
	}
	next := now.Add(reread)
	f.next.Store(&next)
}

func readStatic(path string) (*Static, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("auth: %w", err)
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("auth: the token file has more than %d bytes", maxFileBytes)
	}
	tokens, err := ParseStatic(string(data))
	if err != nil {
		return nil, err
	}
	return NewStatic(tokens...)
}

// ParseStatic reads the text of a token file. Errors name the line, never what
// is in it.
func ParseStatic(text string) ([]StaticToken, error) {
	var out []StaticToken
	number := 0
	for line := range strings.Lines(text) {
		number++
		fields := strings.Fields(line)
		if len(fields) == 0 || strings.HasPrefix(fields[0], "#") {
			continue
		}
		if len(fields) == 1 {
			return nil, fmt.Errorf("auth: token file, line %d: a principal without a token", number)
		}
		t := StaticToken{Token: fields[1], Identity: Identity{Principal: fields[0]}}
		for _, field := range fields[2:] {
			until, expires := strings.CutPrefix(field, "expires=")
			if !expires {
				t.Identity.Scopes = append(t.Identity.Scopes, field)
				continue
			}
			when, err := time.Parse(time.RFC3339, until)
			if err != nil {
				return nil, fmt.Errorf("auth: token file, line %d: expires= wants a time such as 2027-01-31T00:00:00Z", number)
			}
			t.Identity.Expires = when
		}
		if len(out) == MaxStaticTokens {
			return nil, fmt.Errorf("auth: the token file has more than %d tokens", MaxStaticTokens)
		}
		out = append(out, t)
	}
	return out, nil
}
