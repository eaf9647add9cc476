// Command child is the workload that the agent's tests start. Its behaviour is
// the environment variable CHILD, a list of steps separated by blanks.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	steps := os.Getenv("CHILD")
	if len(os.Args) > 1 {
		steps = os.Args[1]
	}
	for step := range strings.FieldsSeq(steps) {
		verb, arg, _ := strings.Cut(step, ":")
		do(verb, arg)
	}
}

func do(verb, arg string) {
	switch verb {
	case "echo": // until the end of stdin
		io.Copy(os.Stdout, os.Stdin)
	case "line":
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		io.WriteString(os.Stdout, line)
	case "say":
		fmt.Println(arg)
	case "exit":
		code, _ := strconv.Atoi(arg)
		os.Exit(code)
	case "deaf": // to everything but KILL
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	case "hang":
		time.Sleep(time.Hour)
	case "onterm":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		fmt.Println("armed")
		<-c
		fmt.Println("terminated")
	case "suspend":
		syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	case "stderr":
		n, _ := strconv.Atoi(arg)
		var all []byte
		for i := range n {
			all = fmt.Appendf(all, "line %d\n", i)
		}
		os.Stderr.Write(all)
	case "grunt": // one line of that many bytes
		n, _ := strconv.Atoi(arg)
		os.Stderr.Write(append(bytes.Repeat([]byte("x"), n), '\n'))
	case "ugly":
		os.Stderr.WriteString("\x1b[31mred\x1b[0m \xff\r\n[forged] \x07bell\n")
	case "flood":
		chunk := bytes.Repeat([]byte("y\n"), 4096)
		for {
			os.Stderr.Write(chunk)
		}
	case "sleep":
		d, _ := time.ParseDuration(arg)
		time.Sleep(d)
	case "member": // a child in our own group
		spawn("deaf hang", syscall.SysProcAttr{}, os.Environ())
	case "daemon": // a child in a session of its own
		spawn("deaf hang", syscall.SysProcAttr{Setsid: true}, os.Environ())
	case "double": // a grandchild whose parent has gone
		spawn("daemon exit:0", syscall.SysProcAttr{Setsid: true}, os.Environ())
	case "bare": // a daemon without our environment
		spawn("deaf hang", syscall.SysProcAttr{Setsid: true}, []string{"HOME=/"})
	case "look":
		look()
	}
}

func spawn(steps string, attr syscall.SysProcAttr, env []string) {
	cmd := exec.Command("/proc/self/exe", steps)
	cmd.Env, cmd.SysProcAttr = env, &attr
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr // no /dev/null needed
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(9)
	}
	fmt.Println("pid", cmd.Process.Pid)
}

// look tells what this process has inherited.
func look() {
	report := struct {
		Files   map[string]string
		Env     []string
		Cwd     string
		Args    []string
		Ignored string
		Blocked string
		Group   bool
	}{Files: map[string]string{}, Env: os.Environ(), Args: os.Args}
	fds, _ := filepath.Glob("/proc/self/fd/*")
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil {
			// Go's runtime opens these itself: poller, cgroup limits, this list.
			if !strings.HasPrefix(target, "anon_inode:") && !strings.HasPrefix(target, "/sys/fs/cgroup/") && !strings.HasPrefix(target, "/proc/") {
				report.Files[filepath.Base(fd)] = target
			}
		}
	}
	report.Cwd, _ = os.Getwd()
	report.Group = syscall.Getpgrp() == os.Getpid()
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "SigIgn:"); ok {
			report.Ignored = strings.TrimSpace(v)
		}
		if v, ok := strings.CutPrefix(line, "SigBlk:"); ok {
			report.Blocked = strings.TrimSpace(v)
		}
	}
	json.NewEncoder(os.Stdout).Encode(report)
}
