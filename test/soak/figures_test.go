package soak

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// figures are what a pod at rest has. All but series and heap must be the same
// after a soak as before.
type figures struct {
	goroutines, descriptors int
	sessions, streams       int
	// processes are the agent's and all others that run one of our programs,
	// which no orphan escapes.
	processes, ours int
	// parked, tasks and ids are what is kept for clients who may come back.
	parked, tasks, ids int
	// series is how many the metrics have: those of what fails in a rare way come
	// late, and each takes a quarter of a kilobyte of the heap or more.
	series int
	// heap is what a collection left, in bytes, without the floor that the
	// sidecar reserves and never touches.
	heap float64
}

func (f figures) String() string {
	return fmt.Sprintf("%d goroutines, %d descriptors, %d sessions, %d streams, %d processes of the agent and %d in all, %d parked calls, %d tasks, %d ids, %d series of metrics, %.0f bytes of live heap",
		f.goroutines, f.descriptors, f.sessions, f.streams, f.processes, f.ours, f.parked, f.tasks, f.ids, f.series, f.heap)
}

// settle is how long after the last client everything may take to be gone, and
// when the heap is looked at.
const settle = 30 * time.Second

// keep is how long the sidecar keeps parked calls and tasks for those who may
// come back: less than settle, by a flag, instead of minutes and hours.
const keep = 10 * time.Second

// count reads everything but the heap.
func (p *pod) count() (f figures) {
	metrics := p.scrape()
	f.goroutines, f.descriptors = int(metrics["go_goroutines"]), int(metrics["process_open_fds"])
	f.parked, f.tasks, f.ids = int(metrics["fairlead_parked_calls"]), int(metrics["fairlead_tasks"]), int(metrics[`fairlead_remembered{kind="session_ids"}`])
	var s config.Status
	body := p.read(p.admin + config.PathStatus)
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		p.t.Fatalf("status: %v in %s", err, body)
	}
	f.sessions, f.streams = s.Counts.Sessions, s.Counts.Streams
	f.processes, f.ours = len(children(p.agent.pid())), running(p.path("bin"))
	return f
}

// allSeries is where scrape puts how many there are.
const allSeries = ""

// scrape reads the metrics: each series, and the sum of those with labels.
func (p *pod) scrape() map[string]float64 {
	p.t.Helper()
	out := map[string]float64{}
	for line := range strings.Lines(p.read(p.metrics + "/metrics")) {
		line = strings.TrimSpace(line)
		end := strings.LastIndex(line, " ")
		n, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil || end < 0 {
			continue
		}
		out[line[:end]] = n
		name, _, labels := strings.Cut(line[:end], "{")
		if labels {
			out[name] += n
		}
		if !strings.HasSuffix(name, "_bucket") && !strings.HasSuffix(name, "_sum") { // of one that has a _count
			out[allSeries]++
		}
	}
	for _, name := range []string{
		"go_goroutines", "process_open_fds", "go_gc_heap_live_bytes",
		"fairlead_parked_calls", "fairlead_tasks", `fairlead_remembered{kind="session_ids"}`, "fairlead_heap_floor_bytes",
	} {
		if _, ok := out[name]; !ok {
			p.t.Fatalf("there is no metric %s", name)
		}
	}
	return out
}

// memory tells how many series there are and what two collections leave of the
// heap: the least of some tries, because the sidecar looks after its workload
// meanwhile.
func (p *pod) memory() (series int, live float64) {
	p.t.Helper()
	const tries = 5
	live = math.Inf(1)
	for range tries {
		p.stacks = p.read(p.admin + "/collect")
		metrics := p.scrape()
		series, live = int(metrics[allSeries]), min(live, metrics["go_gc_heap_live_bytes"]-metrics["fairlead_heap_floor_bytes"])
	}
	return series, live
}

// running counts the processes whose program is in a folder.
func running(dir string) (n int) {
	all, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is good
	for _, exe := range all {
		if target, err := os.Readlink(exe); err == nil && strings.HasPrefix(target, dir+"/") {
			n++
		}
	}
	return n
}

// begun is what a pod that has worked has when it has come to rest, which is what
// it has most of the time: the sidecar looks after its agent every few seconds,
// and a connection more may be open at that moment.
func (p *pod) begun() figures {
	p.t.Helper()
	const calm = (idleSeconds + 6) * time.Second
	p.within(settle, func() bool { return false })
	p.eventually("what is kept for those who come back goes", func() bool { return p.count().rest() })
	times := map[figures]int{}
	var most figures
	p.within(calm, func() bool {
		f := p.count()
		if times[f]++; times[f] > times[most] {
			most = f
		}
		return false
	})
	most.series, most.heap = p.memory()
	return most
}

// rest tells whether nothing is kept for clients any more.
func (f figures) rest() bool { return f.sessions+f.streams+f.parked+f.tasks+f.ids == 0 }

// ended gives a pod time to have what it had before, and returns what it has
// when that is over.
func (p *pod) ended(before figures) figures {
	p.t.Helper()
	over := time.After(settle)
	before.series, before.heap = 0, 0
	var f figures
	p.within(settle, func() bool {
		f = p.count()
		return f == before
	})
	<-over
	f.series, f.heap = p.memory()
	return f
}
