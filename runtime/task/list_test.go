package task_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// W35.16, W22.2: pages in a stable order, each task once, and the end is the
// absence of a cursor.
func TestList(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		var want []string
		for i := range 7 {
			want = append(want, r.start(alice, call, says(`{"big":1}`)).ID)
			r.start(bob, call, says(`{}`))
			if i != 3 {
				time.Sleep(time.Second)
			}
		}
		for _, n := range []int{1, 2, 3, 7, 8, 0} {
			var got []string
			cursor := ""
			for {
				page, next, err := r.List(t.Context(), alice, cursor, n)
				if err != nil {
					t.Fatal(err)
				}
				if n > 0 && len(page) > n {
					t.Errorf("a page of %d", len(page))
				}
				for _, one := range page {
					got = append(got, one.ID)
					if !one.Outcome.IsZero() || one.Status != task.Completed {
						t.Errorf("listed %+v", one)
					}
				}
				if cursor = next; cursor == "" {
					break
				}
			}
			slices.Sort(got[3:5]) // made at the same moment
			slices.Sort(want[3:5])
			if !slices.Equal(got, want) {
				t.Errorf("pages of %d: %d tasks", n, len(got))
			}
		}
	})
}

func TestListLeavesOutWhatHasExpired(t *testing.T) {
	bubble(t, task.Options{Sweep: time.Hour}, func(t *testing.T, r *rig) {
		for i := range 6 {
			r.start(alice, task.Spec{TTL: time.Duration(1+i%2) * time.Minute}, says(`{}`))
		}
		time.Sleep(time.Minute)
		page, next, err := r.List(t.Context(), alice, "", 2)
		if err != nil || len(page) != 2 || next == "" {
			t.Fatalf("%d tasks, %q, %v", len(page), next, err)
		}
		page, next, err = r.List(t.Context(), alice, next, 2)
		if err != nil || len(page) != 1 || next != "" {
			t.Errorf("%d tasks, %q, %v", len(page), next, err)
		}
	})
}

// W35.16, P33.12: a cursor is the caller's own and of this list.
func TestForeignCursors(t *testing.T) {
	keys := keyring(t)
	bubble(t, task.Options{Keys: keys}, func(t *testing.T, r *rig) {
		for range 2 {
			r.start(alice, call, says(`{}`))
		}
		_, mine, err := r.List(t.Context(), alice, "", 1)
		if err != nil || mine == "" {
			t.Fatal(mine, err)
		}
		other, err := keys.Seal(seal.PurposeCursor, []byte("tools/list\x00and more than enough bytes to be one"))
		if err != nil {
			t.Fatal(err)
		}
		short, err := keys.Seal(seal.PurposeCursor, []byte("tasks/list\x00"))
		if err != nil {
			t.Fatal(err)
		}
		tests := map[string]struct {
			owner  task.Owner
			cursor string
		}{
			"of another principal": {bob, mine},
			"of another list":      {alice, other},
			"cut short":            {alice, short},
			"changed":              {alice, altered(mine)},
			"no cursor at all":     {alice, "2"},
			"a large one":          {alice, strings.Repeat("x", 100_000)},
			"a task id":            {alice, r.start(alice, call, says(`{}`)).ID},
		}
		for name, tt := range tests {
			_, _, err := r.List(t.Context(), tt.owner, tt.cursor, 1)
			if got := task.RPC(err); !errors.Is(err, task.ErrCursor) || got.Code != jsonrpc.CodeInvalidParams || got.Message != "invalid cursor" {
				t.Errorf("%s: %v, %+v", name, err, got)
			}
		}
	})
}

// W35.17: who cannot be told from others cannot list.
func TestAnonymousCallersCannotList(t *testing.T) {
	bubble(t, task.Options{}, func(t *testing.T, r *rig) {
		anonymous := task.Owner{Bucket: "b"}
		r.start(anonymous, call, says(`{}`))
		_, _, err := r.List(t.Context(), anonymous, "", 0)
		is(t, err, task.ErrUnknown)
		if r.CanList(anonymous) || !r.CanList(alice) {
			t.Error("CanList is wrong")
		}
	})
}

// W35.8, W36.19: ids are ours, and no two are alike.
func TestIDs(t *testing.T) {
	bubble(t, task.Options{PerOwner: 1000}, func(t *testing.T, r *rig) {
		seen := map[string]bool{}
		for range 300 {
			id := r.start(alice, call, says(`{}`)).ID
			if seen[id] || len(id) > seal.MaxToken || strings.Contains(id, "alice") {
				t.Fatalf("id %q", id)
			}
			seen[id] = true
		}
	})
}

// W35.21, W36.19, W38.21, B0.6: an id is the principal's own. Whatever else
// it is, the answer is the same, byte by byte.
func TestForeignIDs(t *testing.T) {
	keys := keyring(t)
	bubble(t, task.Options{Keys: keys, MinTTL: time.Second}, func(t *testing.T, r *rig) {
		mine := r.start(alice, call, says(`{}`)).ID
		nobodys := r.start(task.Owner{}, call, says(`{}`)).ID
		gone := r.start(alice, task.Spec{TTL: time.Second}, says(`{}`)).ID
		neverMade, err := keys.SealTask(seal.Task{Random: seal.NewRandom()}, "alice")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		tests := map[string]struct {
			owner task.Owner
			id    string
		}{
			"another principal":               {bob, mine},
			"nobody":                          {task.Owner{}, mine},
			"nobody from the same address":    {task.Owner{Bucket: "alice"}, mine},
			"somebody with an anonymous id":   {alice, nobodys}, // an anonymous task is not taken over
			"one who is almost the principal": {task.Owner{Principal: "alice "}, mine},
			"an expired id":                   {alice, gone},
			"an id of no task":                {alice, neverMade},
			"a forged id":                     {alice, "x" + mine},
			"a changed id":                    {alice, altered(mine)},
			"a cut id":                        {alice, mine[:len(mine)-1]},
			"an empty id":                     {alice, ""},
			"an id that is too long":          {alice, mine + strings.Repeat("A", 2000)},
		}
		for name, tt := range tests {
			for op, err := range map[string]error{
				"get":    second(r.Get(t.Context(), tt.owner, tt.id)),
				"cancel": second(r.Cancel(t.Context(), tt.owner, tt.id, "")),
				"answer": second(r.Answer(t.Context(), tt.owner, tt.id, nil)),
				"wait":   second(r.Wait(t.Context(), tt.owner, tt.id, 0)),
				"result": second(r.Result(t.Context(), tt.owner, tt.id, nil)),
			} {
				got := task.RPC(err)
				if text := fmt.Sprintf("%d %s %s", got.Code, got.Message, got.Data); text != "-32602 unknown task " {
					t.Errorf("%s: %s: %s", name, op, text)
				}
			}
		}
		r.get(alice, mine)
		r.get(task.Owner{Bucket: "any"}, nobodys)
	})
}

func FuzzIDs(f *testing.F) {
	k := &seal.Keyring{}
	if err := k.LoadEphemeral(); err != nil {
		f.Fatal(err)
	}
	e, err := task.New(task.Options{Keys: k})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = e.Close(f.Context()) })
	made, err := e.Start(f.Context(), alice, call, says(`{}`))
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{"", ".", "e.", "e.AAAA", made.ID, made.ID + "=", strings.ToUpper(made.ID), "tasks/list"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, id string) {
		_, err := e.Get(t.Context(), alice, id)
		if (err == nil) != (id == made.ID) {
			t.Errorf("%q: %v", id, err)
		}
		_, _, err = e.List(t.Context(), alice, id, 1)
		if (err == nil) != (id == "") {
			t.Errorf("as a cursor: %v", err)
		}
	})
}

// altered is a handle with another last character.
func altered(handle string) string {
	last := "_"
	if strings.HasSuffix(handle, last) {
		last = "A"
	}
	return handle[:len(handle)-1] + last
}
