package supervisor

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepPasses and sweepPause bound a sweep to well under a second, unless
	// somebody forks faster than we kill; the container's pids limit ends that.
	sweepPasses = 20
	sweepPause  = 20 * time.Millisecond
	// unsureLooks bounds the passes that find nobody but somebody who could not
	// be told.
	unsureLooks = 5
	// maxTracked bounds the descendants remembered for one process.
	maxTracked = 4096
)

// sweeper kills what is left of one process outside its group. The key in the
// environment is the rule (P11); two more signs catch what replaced its
// environment (env -i) and left the group. What did both and let go of its
// standard streams before its parent ended by itself cannot be told from
// anybody else's; it ends with the container.
type sweeper struct {
	key    string
	reaper *reaper
	// since is when the process began: what is older is none of its making.
	since uint64
	// pipes are the inodes of the process's standard streams. Nobody else has
	// them, and an orphan that does would keep stdout from ever ending.
	pipes [3]uint64
	// tracked are descendants seen while their parents lived.
	tracked map[procID]struct{}
}

// note remembers the present descendants of root.
func (s *sweeper) note(root procID) {
	all := processes()
	family := map[int]bool{}
	for _, p := range all {
		if p.procID == root {
			family[p.pid] = true
		}
	}
	grow(family, all)
	for _, p := range all {
		if p.procID != root && family[p.pid] && len(s.tracked) < maxTracked {
			if s.tracked == nil {
				s.tracked = map[procID]struct{}{}
			}
			s.tracked[p.procID] = struct{}{}
		}
	}
}

// grow adds the descendants of family's members to it, never ourselves: every
// other process's children are below us.
func grow(family map[int]bool, all []procStat) {
	self := os.Getpid()
	for grown := len(family) > 0; grown; {
		grown = false
		for _, p := range all {
			if !family[p.pid] && family[p.ppid] && p.pid != self {
				family[p.pid], grown = true, true
			}
		}
	}
}

// sweep kills every process that carries the key, was noted, or is an orphan
// with a pipe of ours, and their descendants, until a pass finds none. It returns how many it killed,
// and false if the last pass still found some.
//
// One that has not finished its exec shows no environment, and one that has
// not finished its exit keeps its children without showing one, so a pass that
// met such a process is made again.
func (s *sweeper) sweep() (killed int, clean bool) {
	return sweep(s.members, kill, func() { time.Sleep(sweepPause) })
}

// sweep is the order of it: pause lets die what was killed, and be told what
// could not be.
func sweep(members func() (left []procID, sure bool), kill func(procID) bool, pause func()) (killed int, clean bool) {
	dead := map[procID]struct{}{}
	unsure := 0
	for range sweepPasses {
		left, sure := members()
		if len(left) == 0 {
			if sure || unsure == unsureLooks {
				return len(dead), true
			}
			unsure++
		}
		for _, id := range left {
			if kill(id) {
				dead[id] = struct{}{}
			}
		}
		pause()
	}
	return len(dead), false
}

// members are the processes that are left; sure is false if there may be more.
func (s *sweeper) members() (left []procID, sure bool) {
	all := descendants(processes(), os.Getpid())
	family := map[int]bool{}
	sure = true
	for _, p := range all {
		_, noted := s.tracked[p.procID]
		ours, shown := carries(p.pid, s.key)
		if noted || ours || p.ppid == os.Getpid() && s.reaper.orphan(p.pid, s.holds) {
			family[p.pid] = true
		} else if !shown && !p.zombie && p.start >= s.since {
			sure = false
		}
	}
	grow(family, all)
	for _, p := range all {
		if family[p.pid] && !p.zombie {
			left = append(left, p.procID)
		}
	}
	return left, sure
}

// descendants are the processes below self, which adopts whoever loses a parent
// there: nobody else can be ours. Whose parent is not in the list lost it while
// the list was made, and may be.
func descendants(all []procStat, self int) []procStat {
	listed := map[int]bool{0: true}
	for _, p := range all {
		listed[p.pid] = true
	}
	below := map[int]bool{self: true}
	for _, p := range all {
		if !listed[p.ppid] {
			below[p.pid] = true
		}
	}
	grow(below, all)
	delete(below, self)
	var mine []procStat
	for _, p := range all {
		if below[p.pid] {
			mine = append(mine, p)
		}
	}
	return mine
}

// kill kills id unless it has gone and another has its number.
func kill(id procID) bool {
	fd, err := unix.PidfdOpen(id.pid, 0)
	if errors.Is(err, unix.ENOSYS) { // gVisor: no better way
		return unix.Kill(id.pid, unix.SIGKILL) == nil
	}
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	// The descriptor holds on to whoever has the number now; see that it is
	// still the one we mean.
	if p, ok := stat(id.pid); !ok || p.procID != id {
		return false
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}
