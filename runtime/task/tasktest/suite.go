package tasktest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
)

// Run checks a store. open is called once per test for an empty store; what it
// needs to be closed goes to t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) task.Store) {
	tests := map[string]func(t *testing.T, s task.Store){
		"what is put is what is got":               roundTrip,
		"a key is used once":                       createTwice,
		"an unknown key is not found":              notFound,
		"a change needs the version it is made of": compareAndSet,
		"of many changes at once one wins":         race,
		"bounds hold, also when crowded":           bounds,
		"a list goes through all, in order":        listing,
		"an owner sees nobody else's":              owners,
		"what is due comes earliest first":         due,
		"a deleted record makes room":              deletion,
		"an operation ends with its context":       ends,
	}
	for name, check := range tests {
		t.Run(name, func(t *testing.T) { check(t, open(t)) })
	}
}

var epoch = time.Date(2026, 7, 28, 12, 0, 0, 0, time.UTC)

// record makes the n-th record of an owner.
func record(owner string, n int) task.Record {
	created := epoch.Add(time.Duration(n) * time.Second)
	return task.Record{
		Key: fmt.Sprintf("%032x", n), Token: fmt.Sprintf("token-%d", n), Principal: "p-" + owner, Owner: owner,
		Method: "tools/call", Status: task.Working, Created: created, Updated: created, Changes: 1,
		TTL: time.Hour, Expires: created.Add(time.Hour), Poll: time.Second, Runner: "r",
	}
}

func full(owner string, n int) task.Record {
	r := record(owner, n)
	r.Status, r.Message, r.IsError = task.InputRequired, "half ☃", true
	r.Updated, r.Changes, r.Asked = r.Created.Add(time.Millisecond), 7, 3
	r.Lease = r.Created.Add(time.Minute)
	r.Inputs = []task.Input{
		{Key: "a-1", Method: "elicitation/create", Params: []byte(`{"message":"?"}`), Carrier: "c", Until: r.Created.Add(time.Second)},
		{Key: "b-2", Method: "roots/list", Result: []byte(`{"roots":[]}`)},
		{Key: "c-3", Method: "sampling/createMessage", Err: &jsonrpc.Error{Code: -1, Message: "no", Data: []byte(`1`), Raw: []byte(`{"code":-1}`)}},
	}
	return r
}

func put(t *testing.T, s task.Store, r task.Record) {
	t.Helper()
	if err := s.Create(t.Context(), r, task.Bounds{}); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s task.Store, key string) task.Record {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func same(t *testing.T, got, want task.Record) {
	t.Helper()
	if a, b := got.Encode(), want.Encode(); !bytes.Equal(a, b) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func is(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func roundTrip(t *testing.T, s task.Store) {
	r := full("o", 1)
	put(t, s, r)
	r.Version = 1
	same(t, get(t, s, r.Key), r)
	r.Status, r.Inputs = task.Completed, nil
	r.Result = []byte(`{"content":[]}`)
	if err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Version = 2
	same(t, get(t, s, r.Key), r)
}

func createTwice(t *testing.T, s task.Store) {
	put(t, s, record("o", 1))
	is(t, s.Create(t.Context(), record("o", 1), task.Bounds{}), task.ErrExists)
	is(t, s.Create(t.Context(), record("other", 1), task.Bounds{}), task.ErrExists)
}

func notFound(t *testing.T, s task.Store) {
	_, err := s.Get(t.Context(), "none")
	is(t, err, task.ErrNotFound)
	is(t, s.Update(t.Context(), record("o", 1)), task.ErrNotFound)
	is(t, s.Delete(t.Context(), "none", 1), task.ErrNotFound)
}

func compareAndSet(t *testing.T, s task.Store) {
	r := record("o", 1)
	put(t, s, r)
	is(t, s.Update(t.Context(), r), task.ErrConflict) // version 0 is none
	r.Version, r.Message = 1, "first"
	if err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	r.Message = "second"
	is(t, s.Update(t.Context(), r), task.ErrConflict)
	is(t, s.Delete(t.Context(), r.Key, 1), task.ErrConflict)
	if got := get(t, s, r.Key); got.Message != "first" || got.Version != 2 {
		t.Errorf("got %+v", got)
	}
}

func race(t *testing.T, s task.Store) {
	r := record("o", 1)
	put(t, s, r)
	r.Version = 1
	const racers = 32
	errs := make([]error, racers)
	var all sync.WaitGroup
	for i := range racers {
		all.Go(func() {
			mine := r
			mine.Message = fmt.Sprint(i)
			errs[i] = s.Update(context.Background(), mine)
		})
	}
	all.Wait()
	won := slices.IndexFunc(errs, func(err error) bool { return err == nil })
	for i, err := range errs {
		if i != won && !errors.Is(err, task.ErrConflict) {
			t.Errorf("racer %d: %v", i, err)
		}
	}
	if got := get(t, s, r.Key); won < 0 || got.Message != fmt.Sprint(won) || got.Version != 2 {
		t.Errorf("%d won, the store has %+v", won, got)
	}
}

func bounds(t *testing.T, s task.Store) {
	b := task.Bounds{PerOwner: 3, Total: 5}
	crowd := func(owner string, from int) map[error]int {
		errs := make([]error, 8)
		var all sync.WaitGroup
		for i := range errs {
			all.Go(func() { errs[i] = s.Create(context.Background(), record(owner, from+i), b) })
		}
		all.Wait()
		count := map[error]int{}
		for _, err := range errs {
			switch {
			case err == nil:
				count[nil]++
			case errors.Is(err, task.ErrOwnerFull):
				count[task.ErrOwnerFull]++
			case errors.Is(err, task.ErrFull):
				count[task.ErrFull]++
			default:
				t.Error(err)
			}
		}
		return count
	}
	if got := crowd("a", 0); got[nil] != 3 || got[task.ErrOwnerFull] != 5 {
		t.Errorf("first owner: %v", got)
	}
	if got := crowd("b", 100); got[nil] != 2 || got[task.ErrFull] != 6 {
		t.Errorf("second owner: %v", got)
	}
}

func listing(t *testing.T, s task.Store) {
	var want []string
	for n := range 7 {
		r := full("o", n)
		if n >= 5 { // made at the same moment: the key decides
			r.Created = epoch.Add(4 * time.Second)
		}
		r.Result = []byte(`{}`)
		put(t, s, r)
		want = append(want, r.Key)
	}
	var got []string
	var after task.Position
	for range 10 {
		page, err := s.List(t.Context(), "o", after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, r := range page {
			got = append(got, r.Key)
			if r.Inputs != nil || r.Result != nil || r.Token == "" {
				t.Errorf("%+v is no head", r)
			}
			after = task.Position{Created: r.Created, Key: r.Key}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("listed %v", got)
	}
}

func owners(t *testing.T, s task.Store) {
	put(t, s, record("a", 1))
	put(t, s, record("b", 2))
	for owner, want := range map[string]int{"a": 1, "b": 1, "c": 0, "": 0} {
		page, err := s.List(t.Context(), owner, task.Position{}, 10)
		if err != nil || len(page) != want || want == 1 && page[0].Owner != owner {
			t.Errorf("%q: %v, %v", owner, page, err)
		}
	}
}

func due(t *testing.T, s task.Store) {
	for n := range 4 {
		r := record("o", n)
		r.Expires = epoch.Add(time.Duration(10-n) * time.Minute)
		if n == 0 {
			r.Lease = epoch.Add(time.Minute)
		}
		put(t, s, r)
	}
	keys := func(at time.Duration, n int) (keys string) {
		page, err := s.Due(t.Context(), epoch.Add(at), n)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range page {
			if r.Version == 0 {
				t.Errorf("%s has no version", r.Key)
			}
			keys += r.Key[31:]
		}
		return keys
	}
	for _, tt := range []struct {
		at   time.Duration
		n    int
		want string
	}{{0, 9, ""}, {time.Minute, 9, "0"}, {8 * time.Minute, 9, "032"}, {time.Hour, 9, "0321"}, {time.Hour, 2, "03"}} {
		if got := keys(tt.at, tt.n); got != tt.want {
			t.Errorf("after %s: %s, want %s", tt.at, got, tt.want)
		}
	}
	r := get(t, s, record("o", 0).Key) // a terminal task has no lease to lose
	r.Status, r.Result = task.Completed, []byte(`{}`)
	if err := s.Update(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := keys(time.Hour, 9); got != "3210" {
		t.Errorf("then: %s", got)
	}
}

func deletion(t *testing.T, s task.Store) {
	b := task.Bounds{PerOwner: 1, Total: 1}
	for n := range 3 {
		r := record("o", n)
		if err := s.Create(t.Context(), r, b); err != nil {
			t.Fatal(err)
		}
		if err := s.Delete(t.Context(), r.Key, 1); err != nil {
			t.Fatal(err)
		}
		_, err := s.Get(t.Context(), r.Key)
		is(t, err, task.ErrNotFound)
		if page, err := s.List(t.Context(), "o", task.Position{}, 9); err != nil || len(page) > 0 {
			t.Errorf("%v, %v", page, err)
		}
	}
}

func ends(t *testing.T, s task.Store) {
	put(t, s, record("o", 1))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, getErr := s.Get(ctx, record("o", 1).Key)
	_, listErr := s.List(ctx, "o", task.Position{}, 1)
	_, dueErr := s.Due(ctx, epoch, 1)
	for name, err := range map[string]error{
		"create": s.Create(ctx, record("o", 2), task.Bounds{}), "get": getErr, "list": listErr, "due": dueErr,
		"update": s.Update(ctx, record("o", 1)), "delete": s.Delete(ctx, record("o", 1).Key, 1),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
