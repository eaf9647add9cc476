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
func (s *sweeper) sweep() (killed int, clean bool) {
	dead := map[procID]struct{}{}
	for range sweepPasses {
		left := s.members()
		if len(left) == 0 {
			return len(dead), true
		}
		for _, id := range left {
			if kill(id) {
				dead[id] = struct{}{}
			}
		}
		time.Sleep(sweepPause) // they are dying, and we reap them meanwhile
	}
	return len(dead), false
}

func (s *sweeper) members() []procID {
	all := processes()
	family := map[int]bool{}
	for _, p := range all {
		_, noted := s.tracked[p.procID]
		if noted || carries(p.pid, s.key) || p.ppid == os.Getpid() && s.reaper.orphan(p.pid, s.holds) {
			family[p.pid] = true
		}
	}
	delete(family, os.Getpid()) // whatever our own environment says
	grow(family, all)
	var left []procID
	for _, p := range all {
		if family[p.pid] && !p.zombie {
			left = append(left, p.procID)
		}
	}
	return left
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
