package lapse_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/internal/lapse"
)

// rung notes when alarms rang.
type rung struct {
	mu    sync.Mutex
	began time.Time
	at    map[string]time.Duration
}

type bell struct {
	r    *rung
	name string
}

func (b bell) Ring() {
	b.r.mu.Lock()
	defer b.r.mu.Unlock()
	if _, twice := b.r.at[b.name]; twice {
		panic(b.name + " rang twice")
	}
	b.r.at[b.name] = time.Since(b.r.began)
}

func TestAlarmsRingInTimeUnlessStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c lapse.Clock
		r := &rung{began: time.Now(), at: map[string]time.Duration{}}
		alarms := map[string]*lapse.Alarm{}
		set := func(name string, d time.Duration) {
			alarms[name] = new(lapse.Alarm)
			c.Set(alarms[name], time.Now(), d, bell{r, name})
		}
		set("first, stopped", time.Minute)
		set("in the middle, stopped", time.Minute)
		set("a shorter one", time.Second)
		set("with one before that is stopped", time.Minute)
		time.Sleep(10 * time.Second)
		set("later in the same line", time.Minute)
		set("last, stopped", time.Minute)
		for _, name := range []string{"in the middle, stopped", "first, stopped", "last, stopped"} {
			if !c.Stop(alarms[name]) || c.Stop(alarms[name]) {
				t.Errorf("%s: not stopped once", name)
			}
		}
		time.Sleep(65 * time.Second)
		set("a line that was given up", time.Minute)
		time.Sleep(time.Hour)
		synctest.Wait()
		want := map[string]time.Duration{
			"a shorter one":                   time.Second,
			"with one before that is stopped": time.Minute,
			"later in the same line":          70 * time.Second,
			"a line that was given up":        135 * time.Second,
		}
		for name, at := range want {
			if r.at[name] != at {
				t.Errorf("%s rang at %v, want %v", name, r.at[name], at)
			}
			if c.Stop(alarms[name]) {
				t.Errorf("%s was stopped after it rang", name)
			}
		}
		if len(r.at) != len(want) {
			t.Errorf("rang: %v", r.at)
		}
	})
}

func TestAlarmThatIsNotSet(t *testing.T) {
	var c lapse.Clock
	if c.Stop(new(lapse.Alarm)) {
		t.Error("stopped what was not set")
	}
}

// An alarm that is stopped while others ring: one of both, never neither.
func TestStopOrRing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c lapse.Clock
		r := &rung{began: time.Now(), at: map[string]time.Duration{}}
		alarms := make([]lapse.Alarm, 100)
		var stopped []int
		var mu sync.Mutex
		for i := range alarms {
			c.Set(&alarms[i], time.Now(), time.Second, bell{r, string(rune('A' + i))})
			go func() {
				time.Sleep(time.Second)
				if c.Stop(&alarms[i]) {
					mu.Lock()
					defer mu.Unlock()
					stopped = append(stopped, i)
				}
			}()
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		for i := range alarms {
			_, rang := r.at[string(rune('A'+i))]
			if rang == slices.Contains(stopped, i) {
				t.Errorf("alarm %d: rang %v", i, rang)
			}
		}
	})
}

func BenchmarkSetAndStop(b *testing.B) {
	var c lapse.Clock
	for b.Loop() {
		var a lapse.Alarm
		c.Set(&a, time.Now(), time.Hour, bell{})
		c.Stop(&a)
	}
}
