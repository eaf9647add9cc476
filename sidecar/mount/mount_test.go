package mount

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// publish writes files the way a kubelet does: a new directory, and one link
// renamed over the old.
func publish(t *testing.T, dir, name string, files map[string]string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, name), 0o755))
	for f, text := range files {
		must(os.WriteFile(filepath.Join(dir, name, f), []byte(text), 0o644))
		if _, err := os.Lstat(filepath.Join(dir, f)); err != nil {
			must(os.Symlink(filepath.Join(dataLink, f), filepath.Join(dir, f)))
		}
	}
	tmp := filepath.Join(dir, "..data_tmp")
	must(os.Symlink(name, tmp))
	must(os.Rename(tmp, filepath.Join(dir, dataLink)))
}

func TestReadTakesOneVersion(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, "..1", map[string]string{"a": "1", "b": "1"})
	publish(t, dir, "..2", map[string]string{"a": "2"})
	got, err := Read(dir, 8, 64)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]byte{"a": []byte("2")}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestReadWorksWithoutAKubelet(t *testing.T) {
	dir := t.TempDir()
	for f, text := range map[string]string{"a": "x", ".hidden": "y"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(dir, 1, 1)
	if err != nil || string(got["a"]) != "x" || len(got) != 1 {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadIsBounded(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte("12345"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		files int
		bytes int64
	}{"too many files": {1, 5}, "too large a file": {2, 4}} {
		t.Run(name, func(t *testing.T) {
			if _, err := Read(dir, tc.files, tc.bytes); !errors.Is(err, ErrTooLarge) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestReadDoesNotBlockOnAPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "a"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir, 1, 1); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("error %v", err)
	}
}

func TestReadNamesAMissingDirectory(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "none"), 1, 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// start runs a watcher and returns what it calls back with: the current "a".
func start(t *testing.T, w Watcher) <-chan string {
	t.Helper()
	seen := make(chan string, 64)
	w.Changed = func() {
		files, err := Read(w.Dir, 8, 64)
		if err != nil {
			seen <- "error"
			return
		}
		seen <- string(files["a"])
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return seen
}

func await(t *testing.T, seen <-chan string, want string) {
	t.Helper()
	limit := time.After(30 * time.Second)
	for {
		select {
		case got := <-seen:
			if got == want {
				return
			}
		case <-limit:
			t.Fatalf("%q was never seen", want)
		}
	}
}

func TestWatchSeesASwapWithoutPolling(t *testing.T) {
	dir := t.TempDir()
	publish(t, dir, "..1", map[string]string{"a": "1"})
	seen := start(t, Watcher{Dir: dir, Poll: time.Hour, Settle: time.Millisecond})
	await(t, seen, "1")
	publish(t, dir, "..2", map[string]string{"a": "2"})
	await(t, seen, "2")
}

func TestWatchPollsForADirectoryThatComesLater(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	seen := start(t, Watcher{Dir: dir, Poll: time.Millisecond, Settle: time.Millisecond})
	await(t, seen, "error")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	publish(t, dir, "..1", map[string]string{"a": "1"})
	await(t, seen, "1")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	await(t, seen, "error")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	publish(t, dir, "..2", map[string]string{"a": "2"})
	await(t, seen, "2")
}
