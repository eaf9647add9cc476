package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is one that lives in a namespace of a cluster.
type Process struct {
	PID     int
	Command string
	Kind    string // of the shared namespace: net, mnt, pid, …
}

// ProcessesIn lists processes of the machine in any of the namespaces, keyed by
// kind. One that has ended and waits for its parent's notice is not listed.
func ProcessesIn(namespaces map[string]string) ([]Process, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	var out []Process
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || ended(pid) {
			continue
		}
		for kind, id := range namespaces {
			link, err := os.Readlink(filepath.Join("/proc", e.Name(), "ns", kind))
			if err == nil && link == id {
				out = append(out, Process{PID: pid, Command: commandLine(pid), Kind: kind})
				break
			}
		}
	}
	return out, nil
}

// HasEnv says whether a process was started with the variable kv (KEY=VALUE).
func (p Process) HasEnv(kv string) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.PID))
	return err == nil && slices.Contains(strings.Split(string(data), "\x00"), kv)
}

// ended: a zombie, or gone.
func ended(pid int) bool {
	fields := stat(pid)
	return len(fields) == 0 || fields[0] == "Z" || fields[0] == "X"
}

// stat returns the fields of /proc/PID/stat from the third (state) on; the
// second, the name, may itself hold spaces and brackets.
func stat(pid int) []string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	text := string(data)
	return strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
}

func commandLine(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return "?"
	}
	return strings.TrimSpace(strings.ReplaceAll(string(data), "\x00", " "))
}

// Ancestors returns pid and all its parents, which must not be ended when the
// caller cleans up around itself.
func Ancestors(pid int) []int {
	var out []int
	for pid > 0 && !slices.Contains(out, pid) {
		out = append(out, pid)
		fields := stat(pid)
		if len(fields) < 2 {
			break
		}
		pid, _ = strconv.Atoi(fields[1])
	}
	return out
}

// Interfaces lists the network interfaces of the caller's network namespace.
func Interfaces() ([]string, error) {
	data, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		if name, _, ok := strings.Cut(line, ":"); ok {
			out = append(out, strings.TrimSpace(name))
		}
	}
	return out, nil
}

// MountsBelow lists the caller's mounts at or below dir.
func MountsBelow(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	return mountsBelow(string(data), dir), nil
}

func mountsBelow(mountinfo, dir string) []string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var out []string
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		if p := unescape.Replace(f[4]); p == dir || strings.HasPrefix(p, dir+"/") {
			out = append(out, p)
		}
	}
	return out
}
