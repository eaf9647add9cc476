package agent_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

func TestStderrGoesToTheContainersLogWithThePrefixOfItsProcess(t *testing.T) { // D7, F1
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		key := func(req *agent.StartRequest) { req.Key = "0123456789abcdef" }
		p := r.start("ugly grunt:9000 exit:1", key)
		exit := r.done(p)
		r.terminate()
		log := r.log.String()
		for _, want := range []string{
			"[01234567] red \\xff\n",
			"[01234567] [forged] \\x07bell\n",
			"[01234567] " + strings.Repeat("x", 8192) + "… (808 bytes cut)\n",
		} {
			if !strings.Contains(log, want) {
				t.Errorf("no %.60q in %.400q", want, log)
			}
		}
		if len(exit.StderrTail) != 3 || exit.StderrTail[0] != `red \xff` || len(exit.StderrTail[2]) > 400 {
			t.Errorf("tail %.500q", exit.StderrTail)
		}
	})
}

func TestAFewHundredLinesOfStderrAreCutToTheRateAndTheTailIsTheLast(t *testing.T) { // E3
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("stderr:1000 exit:1")
		exit := r.done(p)
		r.terminate()
		var want []string
		for i := 980; i < 1000; i++ {
			want = append(want, fmt.Sprintf("line %d", i))
		}
		if fmt.Sprint(exit.StderrTail) != fmt.Sprint(want) {
			t.Errorf("tail %q", exit.StderrTail)
		}
		logged := strings.Count(r.log.String(), "] line ")
		if logged < 100 || logged > 300 {
			t.Errorf("%d lines in the log, want about 100", logged)
		}
		dropped := 0
		for line := range strings.Lines(r.log.String()) {
			if _, rest, ok := strings.Cut(line, "… ("); ok {
				n, _ := strconv.Atoi(rest[:strings.IndexByte(rest, ' ')])
				dropped += n
			}
		}
		if logged+dropped != 1000 {
			t.Errorf("%d logged and %d dropped, want 1000 together", logged, dropped)
		}
	})
}

func TestAStderrFloodCostsLittle(t *testing.T) { // E3
	r := newRig(t)
	p := r.start("flood", quick)
	before := cpu(t, r.cmd.Process.Pid)
	start := time.Now()
	r.eventually("a second of flood", func() bool { return time.Since(start) > time.Second })
	if err := r.Check(t.Context()); err != nil {
		t.Errorf("the agent does not answer meanwhile: %v", err)
	}
	used := float64(cpu(t, r.cmd.Process.Pid)-before) / time.Since(start).Seconds()
	p.Stop()
	r.done(p)
	r.terminate()
	if used > 50 { // clock ticks of 1/100 s per second; E3 says 20 % of a core
		t.Errorf("the agent used %.0f %% of a core", used)
	}
	if n := len(r.log.String()); n > 1<<20 {
		t.Errorf("the log has %d bytes", n)
	}
}

// cpu is the time pid has used, in clock ticks.
func cpu(t *testing.T, pid int) int {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(raw[strings.LastIndexByte(string(raw), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return user + system
}
