package upstream

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// leveled is a Leg that remembers the levels it was told.
type leveled struct {
	Leg
	mu     sync.Mutex
	told   []string
	answer peer.Answer
	err    error
}

func (l *leveled) Call(_ context.Context, r peer.Request) (peer.Answer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.told = append(l.told, r.Method+" "+string(r.Params))
	return l.answer, l.err
}

func TestTheLevelOfASharedLegOnlyRises(t *testing.T) { // B11.1
	leg := &leveled{}
	var level Level
	for _, text := range []string{"warning", "error", "warning", "debug", "info"} {
		if err := level.Raise(t.Context(), leg, text); err != nil {
			t.Error(err)
		}
	}
	want := []string{`logging/setLevel {"level":"warning"}`, `logging/setLevel {"level":"debug"}`}
	if diff := cmp.Diff(want, leg.told); diff != "" {
		t.Error(diff)
	}
}

func TestALevelThatIsRefusedIsAskedForAgain(t *testing.T) {
	no := jsonrpc.Errorf(-32601, "no")
	leg := &leveled{answer: peer.Answer{Err: no}}
	var level Level
	for range 2 {
		if err := level.Raise(t.Context(), leg, "info"); !errors.Is(err, no) {
			t.Error(err)
		}
	}
	if len(leg.told) != 2 {
		t.Error(leg.told)
	}
}

func TestManyAskForOneLevelAtOnce(t *testing.T) {
	leg := &leveled{}
	var level Level
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { _ = level.Raise(t.Context(), leg, "info") })
	}
	wg.Wait()
	if len(leg.told) != 1 {
		t.Error(leg.told)
	}
}

func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Backoff{First: 100 * time.Millisecond, Most: 5 * time.Second}
		if b.Wait() != 0 {
			t.Error("waits before the first failure")
		}
		for i := range 100 {
			b.Failed()
			want := min(100*time.Millisecond<<min(i, 16), 5*time.Second)
			if got := b.Wait(); got < want || got > want+want/5+1 {
				t.Errorf("failure %d: %v, want about %v", i, got, want)
			}
		}
		time.Sleep(6 * time.Second)
		if b.Wait() != 0 {
			t.Error("waits after the pause")
		}
		b.Failed()
		b.Worked()
		if b.Wait() != 0 {
			t.Error("waits after a success")
		}
	})
}

func TestWhatBelongsToNoCallOfASharedLeg(t *testing.T) { // B6.2
	_, err := ByCall{}.Request(t.Context(), peer.Incoming{Msg: &jsonrpc.Message{Method: "roots/list"}})
	if err == nil || err.Code != jsonrpc.CodeMethodNotFound {
		t.Error(err)
	}
	ByCall{}.Notification(peer.Incoming{Msg: &jsonrpc.Message{Method: "notifications/x"}})
}

func TestAccept(t *testing.T) { // B1.3
	for revision, want := range map[string]bool{"2024-11-05": true, "2025-03-26": true, "2025-06-18": true, "2025-11-25": true, "2026-07-28": false, "2020-01-01": false, "": false} {
		if Accept(revision) != want {
			t.Errorf("%q: %v", revision, !want)
		}
	}
}
