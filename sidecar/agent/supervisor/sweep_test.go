package supervisor

import (
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestASweepLooksAgainAtWhatCannotBeTold(t *testing.T) {
	type look struct {
		left []procID
		sure bool
	}
	a, b := procID{2, 1}, procID{3, 1}
	tests := map[string]struct {
		looks         []look // the last one goes on
		killed, times int
		clean         bool
	}{
		"nobody":                             {[]look{{nil, true}}, 0, 1, true},
		"one that dies":                      {[]look{{[]procID{a}, true}, {nil, true}}, 1, 2, true},
		"one that shows itself late":         {[]look{{nil, false}, {[]procID{a}, true}, {nil, true}}, 1, 3, true},
		"one whose parent is seen first":     {[]look{{[]procID{a}, false}, {nil, false}, {[]procID{b}, true}, {nil, true}}, 2, 4, true},
		"one that never shows anything":      {[]look{{nil, false}}, 0, unsureLooks + 1, true},
		"one that does not die":              {[]look{{[]procID{a}, true}}, 1, sweepPasses, false},
		"some unsure looks on the way of it": {[]look{{nil, false}, {nil, false}, {[]procID{a}, true}}, 1, sweepPasses, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			times := 0
			members := func() ([]procID, bool) {
				l := tt.looks[min(times, len(tt.looks)-1)]
				times++
				return l.left, l.sure
			}
			killed, clean := sweep(members, func(procID) bool { return true }, func() {})
			if killed != tt.killed || clean != tt.clean || times != tt.times {
				t.Errorf("killed %d, clean %v after %d looks; want %d, %v, %d", killed, clean, times, tt.killed, tt.clean, tt.times)
			}
		})
	}
}

func TestWhoCarriesAKey(t *testing.T) {
	for name, tt := range map[string]struct {
		env         []string
		ours, shown bool
	}{
		"with the key":           {[]string{"A=b", KeyVariable + "=k"}, true, true},
		"with another":           {[]string{KeyVariable + "=kk"}, false, true},
		"without an environment": {[]string{}, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "sleep", "600")
			cmd.Env = tt.env
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
			}()
			ours, shown := carries(cmd.Process.Pid, "k")
			for deadline := time.Now().Add(time.Minute); shown != tt.shown && time.Now().Before(deadline); ours, shown = carries(cmd.Process.Pid, "k") {
				time.Sleep(time.Millisecond) // it is on its way through exec
			}
			if ours != tt.ours || shown != tt.shown {
				t.Errorf("ours %v, shown %v", ours, shown)
			}
		})
	}
}

func TestWhoIsBelowTheAgent(t *testing.T) {
	of := func(pid, ppid int) procStat { return procStat{procID: procID{pid: pid}, ppid: ppid} }
	all := []procStat{
		of(1, 0), of(2, 0), of(30, 2), // the kernel's, or another container's
		of(10, 1),             // the agent
		of(11, 10), of(9, 11), // a child and its own
		of(12, 99), of(13, 12), // lost its parent just now
		of(20, 1), // a neighbour
	}
	var got []int
	for _, p := range descendants(all, 10) {
		got = append(got, p.pid)
	}
	if diff := cmp.Diff([]int{11, 9, 12, 13}, got); diff != "" {
		t.Error(diff)
	}
}
