package stream_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/stream"
)

// P3, P18: the newest messages wait, within bounds of their own and within what
// the budget has for all that wait; everything is given back.
func TestWaiting(t *testing.T) {
	const each = 97 // of the budget, for one byte
	for name, tt := range map[string]struct {
		max, bytes int
		budget     int64
		add        []string
		want       string
		lost       int
	}{
		"nothing":                 {5, 100, 0, nil, "", 0},
		"few":                     {5, 100, 0, []string{"a", "b"}, "a b", 0},
		"the newest of many":      {3, 100, 0, []string{"a", "b", "c", "d", "e"}, "c d e", 2},
		"the newest of large":     {9, 5, 0, []string{"aa", "bb", "cc", "d"}, "bb cc d", 1},
		"one larger than all":     {9, 5, 0, []string{"a", "b", strings.Repeat("c", 9)}, strings.Repeat("c", 9), 2},
		"a quarter of the budget": {9, 100, 4 * 2 * each, []string{"a", "b", "c"}, "b c", 1},
		"no room at all":          {9, 100, 4 * (each - 1), []string{"a", "b"}, "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			store := &stream.Store{Budget: &stream.Budget{Max: tt.budget}}
			w := &stream.Waiting{Store: store, Max: tt.max, MaxBytes: tt.bytes}
			lost := 0
			for _, text := range tt.add {
				lost += w.Add([]byte(text))
			}
			for _, text := range tt.add {
				if has := strings.Contains(" "+tt.want+" ", " "+text+" "); w.Has([]byte(text)) != has {
					t.Errorf("has %s: %v", text, !has)
				}
			}
			got := fmt.Sprintf("%s", w.Take())
			if got != "["+tt.want+"]" || lost != tt.lost {
				t.Errorf("%s waited and %d were lost", got, lost)
			}
			if more := w.Take(); more != nil || store.Budget.Used() != 0 {
				t.Errorf("then %s, %d bytes", more, store.Budget.Used())
			}
		})
	}
	var none *stream.Waiting
	if none.Has(nil) || none.Take() != nil {
		t.Error("nothing holds something")
	}
}

// P18: those who never read leave the rest of the budget to those who do.
func TestWaitingOnesShareAQuarter(t *testing.T) {
	store := &stream.Store{Budget: &stream.Budget{Max: 4 * 970}}
	all := make([]*stream.Waiting, 30)
	lost := 0
	for i := range all {
		all[i] = &stream.Waiting{Store: store, Max: 256, MaxBytes: 1 << 20}
		lost += all[i].Add([]byte("x"))
	}
	if used := store.Budget.Used(); used != 970 || lost != 20 {
		t.Errorf("%d bytes, %d lost", used, lost)
	}
	st := open(t, store, "")
	defer st.Drop()
	if err := st.Send([]byte(strings.Repeat("y", 2000))); err != nil {
		t.Error(err)
	}
	all[0].Take()
	if all[29].Add([]byte("z")) != 0 {
		t.Error("room that was given back is not there")
	}
}
