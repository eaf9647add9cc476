package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// clockOf is the clock of the CPU time of a process of the same user, as
// clock_getcpuclockid(3) makes it: it counts every thread, and no child.
func clockOf(pid int) int32 { return int32(^pid<<3 | 2) }

// cpuOf reads it.
func cpuOf(pid int) (time.Duration, error) {
	var now unix.Timespec
	if err := unix.ClockGettime(clockOf(pid), &now); err != nil {
		return 0, fmt.Errorf("CPU time of process %d: %w", pid, err)
	}
	return time.Duration(now.Nano()), nil
}

// treeCPU is the CPU time of a process and all that it started and that still
// run: a bridge with its workload.
func treeCPU(pid int) (time.Duration, error) {
	parents, err := parents()
	if err != nil {
		return 0, err
	}
	sum, err := cpuOf(pid)
	for child := range parents {
		if descends(parents, child, pid) {
			c, failed := cpuOf(child)
			sum, err = sum+c, errors.Join(err, failed)
		}
	}
	return sum, err
}

// parents maps every process to its parent.
func parents() (map[int]int, error) {
	files, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	out := make(map[int]int, len(files))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		pid, _, _ := bytes.Cut(data, []byte(" "))
		rest := data[bytes.LastIndexByte(data, ')')+1:] // the name may hold anything
		fields := strings.Fields(string(rest))
		if len(fields) < 2 {
			continue
		}
		child, _ := strconv.Atoi(string(pid))
		out[child], _ = strconv.Atoi(fields[1])
	}
	return out, nil
}

func descends(parents map[int]int, pid, from int) bool {
	for parent, ok := parents[pid]; ok && parent > 1; parent, ok = parents[parent] {
		if parent == from {
			return true
		}
	}
	return false
}

// foreign is a program that is measured from outside.
type foreign struct {
	cmd  *exec.Cmd
	addr string
}

// Clocks of foreign programs.
const (
	foreignStart = 30 * time.Second
	foreignStop  = 5 * time.Second
)

// startForeign starts a program that listens on addr and waits until it does,
// or, where addr is empty, until it has printed a URL. The caller stops it.
func startForeign(ctx context.Context, addr string, argv ...string) (*foreign, error) {
	f := &foreign{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...), addr: addr}
	f.cmd.Stderr = os.Stderr
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	f.cmd.Cancel = func() error { return syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL) }
	out, err := f.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := f.cmd.Start(); err != nil {
		return nil, err
	}
	printed := make(chan string, 1)
	go readScreen(out, printed)
	deadline := time.NewTimer(foreignStart)
	defer deadline.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		select {
		case f.addr = <-printed:
			return f, nil
		case <-look.C:
			if addr != "" && listens(addr) {
				return f, nil
			}
		case <-deadline.C:
			return nil, errors.Join(fmt.Errorf("%s did not listen within %v", argv[0], foreignStart), f.stop())
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), f.stop())
		}
	}
}

// readScreen reads all that a program prints and hands on the host of the
// first URL of an MCP endpoint.
func readScreen(out io.Reader, printed chan<- string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "http://127.0.0.1:"); ok {
			port, _, _ := strings.Cut(rest, "/")
			select {
			case printed <- "127.0.0.1:" + port:
			default:
			}
		}
	}
	_, _ = io.Copy(io.Discard, out) // of lines too long for the scanner
}

func listens(addr string) bool {
	c, err := net.DialTimeout("tcp", addr, time.Second)
	if err != nil {
		return false
	}
	_ = c.Close()
	return true
}

// freeAddr is an address of loopback that nobody listens at now.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// stop ends the program and all that it started.
func (f *foreign) stop() error {
	_ = f.cmd.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(foreignStop, func() { _ = f.cmd.Cancel() })
	defer late.Stop()
	err := f.cmd.Wait()
	// What it left of its group.
	_ = syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil // how it ends is its own affair
	}
	return err
}
