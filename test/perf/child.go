package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// roleVariable makes this program a server of the named role.
const roleVariable = "FAIRLEAD_PERF_ROLE"

// profileVariable names a folder that children write CPU profiles into; the
// figures of such a run are not to be compared.
const profileVariable = "FAIRLEAD_PERF_PROFILE"

// usage is what a child says of itself.
type usage struct {
	Mallocs    uint64 // since its start
	Heap       uint64 // bytes in use after two collections; on demand only
	Goroutines int
	PeakRSS    int64 // bytes
	RSS        int64 // bytes
	Backlog    int64 // bytes that wait for readers, of roles that tell
}

// Commands that the driver writes to a child, one a line.
const (
	askUsage   = "usage"   // at once
	askSettled = "settled" // after two collections
	askTell    = "tell"    // send so many notifications of so many bytes to every session
	askPeer    = "peer"    // the rest of the line is for the role
)

// role is what a child does: what it serves, and what it does when told.
type role struct {
	handler http.Handler
	tell    func(n, bytes int) error
	backlog func() int64
	peer    func(arg string) error
	// narrow gives connections small send buffers, and serves HTTP/2 without
	// TLS as well.
	narrow bool
}

// childMain serves on a port of its own choice until its input ends.
func childMain(name string) error {
	r, err := newRole(name)
	if err != nil {
		return err
	}
	l, err := listenConfig(r.narrow).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: r.handler, ReadHeaderTimeout: time.Minute}
	if r.narrow {
		srv.Protocols = new(http.Protocols)
		srv.Protocols.SetHTTP1(true)
		srv.Protocols.SetUnencryptedHTTP2(true)
	}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(l) }()
	if dir := os.Getenv(profileVariable); dir != "" {
		stop, err := profile(filepath.Join(dir, name+".pprof"))
		if err != nil {
			return err
		}
		defer stop()
	}
	fmt.Println(l.Addr())
	done := make(chan error, 1)
	go func() { done <- obey(r, os.Stdin, os.Stdout) }()
	select {
	case err = <-failed:
	case err = <-done:
		_ = srv.Close() // everything ends with this process
	}
	return err
}

// listenConfig bounds what the kernel holds for a reader that does not read,
// when it is to be narrow: the kernel would take megabytes by itself.
func listenConfig(narrow bool) *net.ListenConfig {
	if !narrow {
		return &net.ListenConfig{}
	}
	return &net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, 32<<10)
		})
		return errors.Join(err, failed)
	}}
}

func profile(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { pprof.StopCPUProfile(); _ = f.Close() }, nil
}

func obey(r role, in io.Reader, out io.Writer) error {
	enc := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		command, arg, _ := strings.Cut(lines.Text(), " ")
		var answer any = struct{}{}
		switch command {
		case askUsage:
			u := ownUsage()
			if r.backlog != nil {
				u.Backlog = r.backlog()
			}
			answer = u
		case askSettled:
			runtime.GC()
			debug.FreeOSMemory()
			answer = ownUsage()
		case askTell:
			var n, size int
			if _, err := fmt.Sscanf(arg, "%d %d", &n, &size); err != nil {
				return err
			}
			if err := r.tell(n, size); err != nil {
				return err
			}
		case askPeer:
			if err := r.peer(arg); err != nil {
				return err
			}
		default:
			return fmt.Errorf("unknown command %q", command)
		}
		if err := enc.Encode(answer); err != nil {
			return err
		}
	}
	return lines.Err()
}

func ownUsage() usage {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{
		Mallocs: m.Mallocs, Heap: m.HeapAlloc + m.StackInuse, Goroutines: runtime.NumGoroutine(),
		PeakRSS: residentBytes("VmHWM:"), RSS: residentBytes("VmRSS:"),
	}
}

// cpuTime reads a clock of CPU time, which is finer than what getrusage says.
func cpuTime(clock int32) time.Duration {
	var now unix.Timespec
	if err := unix.ClockGettime(clock, &now); err != nil {
		panic(err) // every Linux has these clocks
	}
	return time.Duration(now.Nano())
}

// residentBytes reads a line of /proc/self/status. getrusage would do for the
// peak if it did not begin with that of the process that started this one.
func residentBytes(line string) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(data), line)
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}

// child is a server process of ours.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	addr string
}

// start runs this program again in the given role. The caller stops it.
func start(ctx context.Context, role string) (*child, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &child{cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := c.out.ReadString('\n')
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s did not start: %w", role, err), c.stop())
	}
	c.addr = strings.TrimSpace(line)
	return c, nil
}

// stop ends the child and waits for it.
func (c *child) stop() error {
	_ = c.in.Close() // that is the order to end
	return c.cmd.Wait()
}

// ask writes a command and reads its answer.
func (c *child) ask(command string) (usage, error) {
	var u usage
	if _, err := io.WriteString(c.in, command+"\n"); err != nil {
		return u, err
	}
	line, err := c.out.ReadBytes('\n')
	if err != nil {
		return u, fmt.Errorf("%s: %w", command, err)
	}
	return u, json.Unmarshal(line, &u)
}
