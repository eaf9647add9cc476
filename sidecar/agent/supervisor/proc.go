package supervisor

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxEnviron is more than the kernel lets an environment be by default.
	maxEnviron = 4 << 20
	// maxLooked bounds the descriptors of a process that are looked at; the
	// standard streams are the lowest.
	maxLooked = 1024
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

// holds tells whether the process has one of our pipes open.
func (s *sweeper) holds(pid int) bool {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxLooked)
	for _, name := range names {
		target, _ := os.Readlink(dir + "/" + name)
		number, ok := strings.CutPrefix(target, "pipe:[")
		if !ok {
			continue
		}
		inode, err := strconv.ParseUint(strings.TrimSuffix(number, "]"), 10, 64)
		if err == nil && inode != 0 && slices.Contains(s.pipes[:], inode) {
			return true
		}
	}
	return false
}

// carries tells whether the process was started with our key. One that we may
// not look at (another uid) is not ours. shown is false while it has no
// environment: on its way through exec or exit, or never given one.
func carries(pid int, key string) (ours, shown bool) {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false, true
	}
	defer f.Close()
	env, err := io.ReadAll(io.LimitReader(f, maxEnviron))
	if err != nil {
		return false, true
	}
	for pair := range bytes.SplitSeq(env, []byte{0}) {
		if string(pair) == KeyVariable+"="+key {
			return true, true
		}
	}
	return false, len(env) > 0
}
