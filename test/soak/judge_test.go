package soak

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// These are the tests of the judge: a server that mixes up, doubles or keeps
// what it must not has to be found out.

// one is the life whose client the doubles below serve.
const one life = 1

func TestWhatAClientMustNotGetIsFoundOut(t *testing.T) {
	mine, other := one.token(7), life(2).token(7)
	answer := func(id int, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":%q}]}}`, id, text)
	}
	event := func(id, data string) string { return "id: " + id + "\ndata: " + data + "\n\n" }
	for name, tc := range map[string]struct {
		header, body string
		events       bool
		want         string // part of the only fault; "" for none
	}{
		"an answer":                              {body: answer(1, mine)},
		"an answer on a stream":                  {body: event("a.1", answer(1, mine)), events: true},
		"the same event again":                   {body: event("a.1", answer(1, mine)) + event("a.1", answer(1, mine)), events: true},
		"a notification and a request":           {body: event("a.1", `{"jsonrpc":"2.0","method":"m"}`) + event("a.2", `{"jsonrpc":"2.0","id":9,"method":"ping"}`), events: true},
		"the answer twice":                       {body: event("a.1", answer(1, mine)) + event("a.2", answer(1, mine)), events: true, want: "two answers"},
		"the answer twice without ids":           {body: "data: " + answer(1, mine) + "\n\ndata: " + answer(1, mine) + "\n\n", events: true, want: "two answers"},
		"another answer as the same event":       {body: event("a.1", answer(1, mine)) + event("a.1", answer(1, "x")), events: true, want: "two answers"},
		"an answer to what was not asked":        {body: answer(2, mine), want: "never asked"},
		"another's token in the answer":          {body: answer(1, other), want: other},
		"another's token in a notification":      {body: event("a.1", `{"jsonrpc":"2.0","method":"m","params":{"t":"`+other+`"}}`), events: true, want: other},
		"another's token in a comment":           {body: ": " + other + "\n\n", events: true, want: other},
		"another's token in a header":            {header: other, body: answer(1, mine), want: other},
		"another's token in what is no message":  {body: "busy with " + other, want: other},
		"another's token where the stream broke": {body: "data: " + other, events: true, want: other},
		"what is no message":                     {body: event("a.1", "{{"), events: true, want: "no message"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if tc.events {
					w.Header().Set("Content-Type", "text/event-stream")
				}
				if tc.header != "" {
					w.Header().Set("X-Double", tc.header)
				}
				_, _ = io.WriteString(w, tc.body) // the client reads it all
			}))
			defer server.Close()
			var found faults
			tap := newTap(newLedger(one, found.add), "127.0.0.1")
			defer tap.close()
			resp, err := (&http.Client{Transport: tap}).Post(server.URL, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close() // it was read to its end
			switch {
			case tc.want == "" && found.count > 0, tc.want != "" && found.count != 1:
				t.Errorf("%d faults: %q", found.count, found.first)
			case tc.want != "" && !strings.Contains(found.first[0], tc.want):
				t.Errorf("%q says nothing of %q", found.first[0], tc.want)
			}
		})
	}
}

func TestCallsThatRanTwiceOrNeverAreFoundOut(t *testing.T) {
	for name, tc := range map[string]struct {
		ran  map[string][]string
		want []string
	}{
		"each once":                   {map[string][]string{"a": {"echo 1"}, "b": {"work 2"}}, nil},
		"one of which nobody heard":   {map[string][]string{"a": {"echo 1"}, "b": {"work 2"}, "c": {"work 2"}}, nil},
		"one twice":                   {map[string][]string{"a": {"echo 1", "echo 2"}, "b": {"work 2"}}, []string{"a ran 2 times: echo 1, echo 2"}},
		"one never, and was answered": {map[string][]string{"a": {"echo 1"}}, []string{"b was answered by work, which never ran"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := newTally()
			told.answered("echo", "a")
			told.answered("work", "b")
			if got := told.against(tc.ran, &faults{}); !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNoFaultIsLost(t *testing.T) {
	f := &faults{}
	for i := range shownFaults + 3 {
		f.add("fault %d", i)
	}
	got := newTally().against(nil, f)
	if len(got) != shownFaults+1 || got[0] != "fault 0" || got[shownFaults] != "and 3 faults more" {
		t.Errorf("got %q", got)
	}
}

func TestWhatIsLeftBehindIsFoundOut(t *testing.T) {
	at := figures{goroutines: 20, descriptors: 17, processes: 1, ours: 3, heap: 2 << 20}
	for name, tc := range map[string]struct {
		alter func(*figures)
		want  string // "" for nothing
	}{
		"nothing":                {func(*figures) {}, ""},
		"as much as may be":      {func(f *figures) { f.heap *= 1.04 }, ""},
		"less heap":              {func(f *figures) { f.heap /= 2 }, ""},
		"too much heap":          {func(f *figures) { f.heap *= 1.06 }, "the live heap has grown from 2097152 to 2222981 bytes"},
		"a goroutine":            {func(f *figures) { f.goroutines++ }, "there were 20 goroutines before and are 21 after"},
		"a descriptor":           {func(f *figures) { f.descriptors++ }, "there were 17 descriptors before and are 18 after"},
		"a session":              {func(f *figures) { f.sessions++ }, "there were 0 sessions before and are 1 after"},
		"a stream":               {func(f *figures) { f.streams++ }, "there were 0 streams before and are 1 after"},
		"a process":              {func(f *figures) { f.processes++ }, "there were 1 processes of the agent before and are 2 after"},
		"a process that is gone": {func(f *figures) { f.processes-- }, "there were 1 processes of the agent before and are 0 after"},
		"an orphan":              {func(f *figures) { f.ours++ }, "there were 3 processes before and are 4 after"},
		"a parked call":          {func(f *figures) { f.parked++ }, "there were 0 parked calls before and are 1 after"},
		"a task":                 {func(f *figures) { f.tasks++ }, "there were 0 tasks before and are 1 after"},
		"an id":                  {func(f *figures) { f.ids++ }, "there were 0 ids of sessions before and are 1 after"},
	} {
		t.Run(name, func(t *testing.T) {
			after := at
			tc.alter(&after)
			if got := strings.Join(leftBehind(at, after), "; "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestASoakInWhichNothingWorksIsFoundOut(t *testing.T) {
	test, soak := dialects()
	for name, tc := range map[string]struct {
		b    back
		want int // acts that must have worked
	}{
		"that does all":   {back{dialect: soak, reverse: true}, len(acts)},
		"that never asks": {back{dialect: soak}, len(acts) - 2},
		"that knows less": {back{dialect: test, reverse: true}, len(acts) - 4},
	} {
		t.Run(name, func(t *testing.T) {
			told := newTally()
			for _, a := range acts {
				told.add(a.name, "time")
			}
			if got := told.idle(&tc.b); len(got) != tc.want {
				t.Errorf("got %q, want %d", got, tc.want)
			}
			for _, a := range acts {
				told.add(a.name, "")
			}
			if got := told.idle(&tc.b); len(got) != 0 {
				t.Errorf("got %q after all worked", got)
			}
		})
	}
}

// A port that gave up because its turn did not come is asked again.
func TestWhatHadNoTimeIsAskedAgain(t *testing.T) {
	busy := true
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if busy {
			busy = false
			http.Error(w, "Exceeded configured timeout", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, "figures")
	}))
	defer server.Close()
	p := &pod{t: t, plain: server.Client()}
	if got := p.read(server.URL); got != "figures" {
		t.Errorf("got %q", got)
	}
}

// A sidecar that tells its figures, which a collection changes.
func TestTheHeapIsWhatCollectionsLeaveAboveTheFloor(t *testing.T) {
	const floor = 1000
	left := []int{9000, 1500, 1420, 1600, 1450, 1430}
	collected := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/metrics" {
			collected++
			return
		}
		fmt.Fprintf(w, "# HELP x y z\ngo_goroutines 5\nprocess_open_fds 6\ngo_gc_heap_live_bytes %d\n", left[collected])
		fmt.Fprintf(w, "fairlead_parked_calls 1\nfairlead_tasks{status=\"working\"} 2\nfairlead_tasks{status=\"a b\"} 3\nfairlead_remembered{kind=\"session_ids\"} 4\nfairlead_heap_floor_bytes %d\n", floor)
	}))
	defer server.Close()
	p := &pod{t: t, metrics: server.URL, admin: server.URL, plain: server.Client()}
	if series, live := p.memory(); live != 420 || series != 8 {
		t.Errorf("%v bytes, %d series, want 420 and 8", live, series)
	}
	m := p.scrape()
	maps.DeleteFunc(m, func(name string, _ float64) bool { return !strings.HasPrefix(name, "fairlead_") })
	want := map[string]float64{
		"fairlead_parked_calls": 1, "fairlead_heap_floor_bytes": floor,
		"fairlead_tasks": 5, `fairlead_tasks{status="working"}`: 2, `fairlead_tasks{status="a b"}`: 3,
		"fairlead_remembered": 4, `fairlead_remembered{kind="session_ids"}`: 4,
	}
	if !maps.Equal(m, want) {
		t.Errorf("got %v, want %v", m, want)
	}
}

// A program that was left behind is seen as long as it runs, whoever its parent
// is, and as a child of ours also when it has ended.
func TestProcessesAreSeen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "left")
	if err := os.Link(filepath.Join(bin, "soakworkload"), name); err != nil {
		t.Fatal(err)
	}
	here := filepath.Dir(name)
	cmd := exec.Command(name, "-journal", filepath.Join(t.TempDir(), "journal"))
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if n := running(here); n != 1 {
		t.Errorf("%d run, want 1", n)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, out); err != nil { // it ends
		t.Fatal(err)
	}
	if !slices.Contains(children(os.Getpid()), cmd.Process.Pid) {
		t.Error("nobody has waited for it, and it is not seen")
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if running(here) != 0 || slices.Contains(children(os.Getpid()), cmd.Process.Pid) {
		t.Error("it is seen after its end")
	}
}
