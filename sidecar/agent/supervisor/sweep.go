package supervisor

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepPasses and sweepPause bound a sweep to well under a second, unless
	// somebody forks faster than we kill; the container's pids limit ends that.
	sweepPasses = 20
	sweepPause  = 20 * time.Millisecond
	// maxEnviron is more than the kernel lets an environment be by default.
	maxEnviron = 4 << 20
	// maxTracked bounds the descendants remembered for one process.
	maxTracked = 4096
)

// procID is a process beyond doubt: ids are reused, ids with start times not.
type procID struct {
	pid   int
	start uint64 // clock ticks since boot
}

// procStat is what /proc/<pid>/stat says of the family.
type procStat struct {
	procID
	ppid   int
	zombie bool
}

// sweeper kills what is left of one process outside its group.
type sweeper struct {
	key string
	// tracked are descendants seen while their parents lived. They catch what
	// replaced its environment (env -i) before it left the group.
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

// sweep kills every process that carries the key, or was noted, or descends
// from one of these, until a pass finds none. It returns how many it killed,
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
		if _, ok := s.tracked[p.procID]; ok || carries(p.pid, s.key) {
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

// processes lists what /proc shows. Processes that end meanwhile are left out.
func processes() []procStat {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	var all []procStat
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := stat(pid); ok {
			all = append(all, p)
		}
	}
	return all
}

func stat(pid int) (procStat, bool) {
	raw, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, false
	}
	return parseStat(pid, raw)
}

// parseStat reads `pid (name) state ppid … starttime …`; the name may hold
// anything, parentheses and blanks included.
func parseStat(pid int, raw []byte) (procStat, bool) {
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 20 {
		return procStat{}, false
	}
	ppid, err := strconv.Atoi(string(fields[1]))
	if err != nil {
		return procStat{}, false
	}
	start, err := strconv.ParseUint(string(fields[19]), 10, 64)
	if err != nil {
		return procStat{}, false
	}
	state := fields[0][0]
	return procStat{procID{pid, start}, ppid, state == 'Z' || state == 'X'}, true
}

// carries tells whether the process was started with our key. One that we may
// not look at (another uid) is not ours.
func carries(pid int, key string) bool {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	if err != nil {
		return false
	}
	for pair := range bytes.SplitSeq(env, []byte{0}) {
		if string(pair) == KeyVariable+"="+key {
			return true
		}
	}
	return false
}
