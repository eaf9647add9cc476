package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contract(t *testing.T, keepAlive int) []byte {
	t.Helper()
	l := config.DefaultLive()
	l.Limits.KeepAliveSeconds = keepAlive
	gz, _, err := config.EncodeLive(l)
	if err != nil {
		t.Fatal(err)
	}
	return gz
}

func put(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func squeeze(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestABadFileKeepsTheLastGoodOne(t *testing.T) { // D6
	dir := t.TempDir()
	var told []string
	s := &Store{Dir: dir, Changed: func(now *Contract, err error) {
		told = append(told, fmt.Sprint(now.Limits.KeepAliveSeconds, " ", err != nil))
	}}
	put(t, dir, config.LiveKey(1), contract(t, 10))
	s.look()
	good := s.Current()
	for name, tc := range map[string]struct {
		data []byte
		want string
	}{
		"an unknown field": {squeeze(t, `{"version":1,"colour":"red"}`), `unknown field "colour"`},
		"half a file":      {contract(t, 20)[:20], "EOF"},
		"invalid limits":   {squeeze(t, `{"version":1,"limits":{},"network":{}}`), "limits.requestSeconds"},
	} {
		put(t, dir, config.LiveKey(1), tc.data)
		s.look()
		s.look()
		if s.Current() != good {
			t.Errorf("%s: the good contract is gone", name)
		}
		if !strings.Contains(s.Fault(), tc.want) {
			t.Errorf("%s: fault %q, want %q in it", name, s.Fault(), tc.want)
		}
	}
	put(t, dir, config.LiveKey(1), contract(t, 10)) // what is in force anyway
	s.look()
	put(t, dir, config.LiveKey(1), contract(t, 30))
	s.look()
	if s.Fault() != "" || s.Current().Limits.KeepAliveSeconds != 30 {
		t.Errorf("after the repair: %q, %+v", s.Fault(), s.Current())
	}
	want := "10 false,10 true,10 true,10 true,10 false,30 false"
	if got := strings.Join(told, ","); got != want {
		t.Errorf("told %s, want %s", got, want)
	}
}

func TestNothingIsInForceBeforeTheFirstGoodFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "later")
	var last error
	s := &Store{Dir: dir, Changed: func(_ *Contract, err error) { last = err }}
	s.look()
	if s.Current() != nil || last == nil || s.Fault() == "" {
		t.Errorf("%v, %v, %q", s.Current(), last, s.Fault())
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, dir, config.LiveKey(config.LiveVersion+1), contract(t, 10)) // a version of the future
	s.look()
	if s.Current() != nil || !strings.Contains(s.Fault(), "no file of a version") {
		t.Errorf("%v, %q", s.Current(), s.Fault())
	}
	put(t, dir, config.LiveKey(1), contract(t, 10))
	s.look()
	if s.Current() == nil || last != nil {
		t.Errorf("%v, %v", s.Current(), last)
	}
}

func TestRunFollowsTheMount(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, config.LiveKey(1), contract(t, 10))
	seen := make(chan int, 16)
	s := &Store{Dir: dir, Changed: func(now *Contract, err error) {
		if err == nil {
			seen <- now.Limits.KeepAliveSeconds
		}
	}}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	defer func() { cancel(); <-done }()
	for _, want := range []int{10, 20} {
		select {
		case got := <-seen:
			if got != want {
				t.Fatalf("in force %d, want %d", got, want)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("%d never came into force", want)
		}
		// As the kubelet does it: never a half-written file under the name.
		put(t, dir, "..tmp", contract(t, want+10))
		if err := os.Rename(filepath.Join(dir, "..tmp"), filepath.Join(dir, config.LiveKey(1))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFixedHoldsAnInvalidContractBack(t *testing.T) {
	s, err := Fixed(config.DefaultLive())
	if err != nil || s.Current() == nil {
		t.Fatalf("%v, %v", s, err)
	}
	if _, err := Fixed(config.Live{}); err == nil {
		t.Error("an empty contract was taken")
	}
}
