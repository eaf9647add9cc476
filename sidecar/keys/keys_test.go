package keys

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func secret(fill string) string { return strings.Repeat(fill, config.KeyBytes) }

// write replaces the content of a directory that no kubelet manages.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	old, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range old {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKeysRotateInTwoSteps(t *testing.T) { // O8
	dir := t.TempDir()
	ring := &seal.Keyring{Server: "uid"}
	l := &Loader{Dir: dir, Ring: ring}
	load := func(files map[string]string) {
		t.Helper()
		write(t, dir, files)
		if err := l.Load(); err != nil {
			t.Fatal(err)
		}
	}
	load(map[string]string{"sealWith": "a1\n", "a1": secret("x")})
	handle, err := ring.Seal(seal.PurposeSession, []byte("s"))
	if err != nil {
		t.Fatal(err)
	}
	load(map[string]string{"sealWith": "a1", "a1": secret("x"), "a2": secret("y")})
	want := config.KeyStatus{SealWith: "a1", IDs: []string{"a1", "a2"}}
	if diff := cmp.Diff(want, l.Status()); diff != "" {
		t.Errorf("open-only step (-want +got):\n%s", diff)
	}
	load(map[string]string{"sealWith": "a2", "a1": secret("x"), "a2": secret("y")})
	if _, err := ring.Open(seal.PurposeSession, handle); err != nil {
		t.Errorf("the old handle died with the flip: %v", err)
	}
	load(map[string]string{"sealWith": "a2", "a2": secret("y")})
	if _, err := ring.Open(seal.PurposeSession, handle); err == nil {
		t.Error("the old handle outlived its key")
	}
}

func TestBadContentKeepsTheLastGoodKeysAndNamesNoSecret(t *testing.T) {
	good := map[string]string{"sealWith": "a1", "a1": secret("x")}
	for name, tc := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":              {nil, "entry sealWith is missing"},
		"no key to seal with":  {map[string]string{"sealWith": secret("S"), "a1": secret("S")}, "does not name one of the 1 keys"},
		"a short key":          {map[string]string{"sealWith": "a1", "a1": "SSSS"}, "has 4 bytes"},
		"a long key":           {map[string]string{"sealWith": "a1", "a1": secret("S") + "S"}, "has 33 bytes"},
		"an odd id":            {map[string]string{"sealWith": "a1", "a1": secret("S"), "A_1": secret("S")}, `"A_1" is no key id`},
		"a file without bound": {map[string]string{"sealWith": "a1", "a1": strings.Repeat("S", 1<<20)}, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			ring := &seal.Keyring{Server: "uid"}
			var told []error
			l := &Loader{Dir: dir, Ring: ring, Observe: func(_ []string, _ string, err error) { told = append(told, err) }}
			write(t, dir, good)
			if err := l.Load(); err != nil {
				t.Fatal(err)
			}
			handle, err := ring.Seal(seal.PurposeSession, []byte("s"))
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, tc.files)
			err = l.Load()
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "SSSS") {
				t.Errorf("the error quotes a key: %v", err)
			}
			_ = l.Load() // told once, not at each poll
			if len(told) != 2 || told[1] == nil {
				t.Errorf("observed %v, want one success and one failure", told)
			}
			s := l.Status()
			if s.Error == "" || s.SealWith != "a1" {
				t.Errorf("status %+v", s)
			}
			if _, err := ring.Open(seal.PurposeSession, handle); err != nil {
				t.Errorf("the good key is gone: %v", err)
			}
			write(t, dir, good)
			if err := l.Load(); err != nil || l.Status().Error != "" {
				t.Errorf("after the repair: %v, %+v", err, l.Status())
			}
		})
	}
}

func TestAMissingDirectoryIsSaid(t *testing.T) {
	l := &Loader{Dir: filepath.Join(t.TempDir(), "none"), Ring: &seal.Keyring{}}
	if err := l.Load(); err == nil || l.Status().Error == "" {
		t.Errorf("%v, %+v", err, l.Status())
	}
}

func TestRunPicksUpAChange(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"sealWith": "a1", "a1": secret("x")})
	changed := make(chan string, 64)
	l := &Loader{Dir: dir, Ring: &seal.Keyring{Server: "uid"}, Observe: func(_ []string, sealWith string, _ error) { changed <- sealWith }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); l.Run(ctx) }()
	defer func() { cancel(); <-done }()
	limit := time.After(30 * time.Second)
	for _, want := range []string{"a1", "b2"} {
		for got := ""; got != want; {
			select {
			case got = <-changed:
			case <-limit:
				t.Fatalf("%s was never loaded", want)
			}
		}
		// One write that is whole: keys first, then what names them.
		if err := os.WriteFile(filepath.Join(dir, "b2"), bytes.Repeat([]byte("y"), config.KeyBytes), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "sealWith"), []byte("b2"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
