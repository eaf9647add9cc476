package instance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Record is what must be known of a running node to find it, and after its end
// to prove that nothing of it is left.
type Record struct {
	PID        int               `json:"pid"`        // the node's first process, as the machine sees it
	Start      uint64            `json:"start"`      // its start time in clock ticks since boot: pids are reused
	Namespaces map[string]string `json:"namespaces"` // kind -> "net:[4026532…]"
	Interfaces []string          `json:"interfaces"` // the machine's own, before
	Tools      string            `json:"tools"`      // folder of the binaries it runs
}

// NewRecord describes the running process pid.
func NewRecord(pid int, tools string) (Record, error) {
	start, err := startTime(pid)
	if err != nil {
		return Record{}, err
	}
	r := Record{PID: pid, Start: start, Tools: tools, Namespaces: map[string]string{}}
	for _, kind := range []string{"net", "mnt", "pid", "uts", "ipc"} {
		link := fmt.Sprintf("/proc/%d/ns/%s", pid, kind)
		id, err := os.Readlink(link)
		if err != nil {
			return Record{}, err
		}
		r.Namespaces[kind] = id
	}
	return r, nil
}

// Alive says whether the node's first process is still that process.
func (r Record) Alive() bool {
	start, err := startTime(r.PID)
	return r.PID > 0 && err == nil && start == r.Start
}

// Hold keeps the namespaces of a live node from being given to others after its
// end: their ids are reused at once, and who is found in one could be anybody.
// It returns nil when the node has ended already. Close it soon: mounts live on.
func (r Record) Hold() (*Held, error) {
	h := &Held{}
	for kind := range r.Namespaces {
		f, err := os.Open(fmt.Sprintf("/proc/%d/ns/%s", r.PID, kind))
		if err != nil {
			h.Close()
			if !r.Alive() {
				return nil, nil
			}
			return nil, err
		}
		h.files = append(h.files, f)
	}
	if !r.Alive() { // the pid may have been another's for a moment
		h.Close()
		return nil, nil
	}
	return h, nil
}

// Held are namespaces that cannot go away.
type Held struct{ files []*os.File }

// Close lets them go. Closing nil does nothing.
func (h *Held) Close() {
	if h == nil {
		return
	}
	for _, f := range h.files {
		f.Close()
	}
}

// Root is the node's file system seen from the machine, so that its sockets can
// be dialled from outside by a short path.
func (r Record) Root(path string) string {
	return fmt.Sprintf("/proc/%d/root%s", r.PID, path)
}

// ErrNoRecord: no node was started, or it was ended properly.
var ErrNoRecord = errors.New("no record of a node")

func (i Instance) recordPath() string { return i.Path("node.json") }

// LoadRecord returns ErrNoRecord when there is none.
func (i Instance) LoadRecord() (Record, error) {
	var r Record
	data, err := os.ReadFile(i.recordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return r, ErrNoRecord
	}
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", i.recordPath(), err)
	}
	return r, nil
}

// SaveRecord replaces the record in one step.
func (i Instance) SaveRecord(r Record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	tmp := i.recordPath() + ".tmp"
	if err := os.WriteFile(tmp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, i.recordPath())
}

// ForgetRecord removes the record; a missing one is no error.
func (i Instance) ForgetRecord() error {
	if err := os.Remove(i.recordPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// startTime is field 22 of /proc/PID/stat, counted after the command's name,
// which may itself hold spaces and brackets. A zombie counts as gone.
func startTime(pid int) (uint64, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	text := string(data)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return 0, fmt.Errorf("/proc/%d/stat: %d fields", pid, len(fields))
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return 0, fmt.Errorf("process %d has ended", pid)
	}
	return strconv.ParseUint(fields[19], 10, 64)
}
