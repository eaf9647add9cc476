package agent_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

func TestAChildInheritsItsThreeStreamsItsEnvironmentAndNothingElse(t *testing.T) { // E5
	everyWay(t, func(t *testing.T, w way) {
		t.Setenv("FROM_CONTAINER", "kept")
		t.Setenv("OVERRIDDEN", "container")
		t.Setenv("FAIRLEAD_PROCESS", "forged")
		r := w.rig(t)
		cwd := t.TempDir()
		r.start("echo") // another child, whose descriptors must not show either
		p := r.start("look", func(req *agent.StartRequest) {
			req.Key = "the-key"
			req.Cwd = cwd
			req.Env["OVERRIDDEN"] = "request"
			req.Env["FAIRLEAD_PROCESS"] = "forged"
		})
		var got struct {
			Files   map[string]string
			Env     []string
			Cwd     string
			Ignored string
			Blocked string
			Group   bool
		}
		if err := json.NewDecoder(p.Stdout).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if len(got.Files) != 3 {
			t.Errorf("descriptors %v", got.Files)
		}
		for _, fd := range []string{"0", "1", "2"} {
			if !strings.HasPrefix(got.Files[fd], "pipe:") {
				t.Errorf("descriptor %s is %q", fd, got.Files[fd])
			}
		}
		for _, want := range []string{"FROM_CONTAINER=kept", "OVERRIDDEN=request", "FAIRLEAD_PROCESS=the-key"} {
			if !slices.Contains(got.Env, want) {
				t.Errorf("no %s in %q", want, got.Env)
			}
		}
		names := map[string]int{}
		for _, pair := range got.Env {
			name, _, _ := strings.Cut(pair, "=")
			if names[name]++; names[name] > 1 {
				t.Errorf("%s is there twice", name)
			}
		}
		if got.Cwd != cwd {
			t.Errorf("cwd %q, want %q", got.Cwd, cwd)
		}
		if !got.Group {
			t.Error("no process group of its own")
		}
		// Signals 1 to 31. glibc's posix_spawn leaves its own signal 32 ignored in
		// what it starts, so a test below make inherits that one.
		ignored, err := strconv.ParseUint(got.Ignored, 16, 64)
		if err != nil || ignored&(1<<31-1) != 0 {
			t.Errorf("ignored signals %s, %v", got.Ignored, err)
		}
		// Go's runtime unblocks everything for itself; what is left would be ours.
		if strings.Trim(got.Blocked, "0") != "" {
			t.Errorf("blocked signals %s", got.Blocked)
		}
	})
}

func TestWhatCannotBeStartedIsSaidByCode(t *testing.T) { // R11
	dir := t.TempDir()
	file := func(name string, mode fs.FileMode, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	argv := func(words ...string) func(*agent.StartRequest) {
		return func(req *agent.StartRequest) { req.Argv = words }
	}
	plain := file("plain", 0o644, "#!/bin/sh\n")
	lost := file("lost", 0o755, "#!/no/such/interpreter\n")
	noise := file("noise", 0o755, "\x00\x01\x02 no program")
	tests := map[string]struct {
		change func(*agent.StartRequest)
		code   agent.Code
		detail string
	}{
		"a command that is not in PATH":         {argv("no-such-command"), agent.CodeNotFound, `"no-such-command" is not in PATH`},
		"a path that does not exist":            {argv("/no/such/file"), agent.CodeNotFound, "does not exist in the image"},
		"a path below a file":                   {argv(plain + "/x"), agent.CodeNotFound, "does not exist in the image"},
		"a script whose interpreter is missing": {argv(lost), agent.CodeNotFound, "the interpreter it names is not in the image"},
		"a file without the executable bit":     {argv(plain), agent.CodePermission, "may not be executed by uid"},
		"the same found in PATH": {func(req *agent.StartRequest) {
			req.Argv, req.Env["PATH"] = []string{"plain"}, dir
		}, agent.CodePermission, "is in PATH but may not be executed"},
		"a directory":                        {argv(dir), agent.CodePermission, "may not be executed"},
		"a file that is no program":          {argv(noise), agent.CodeExec, "no program of this machine's architecture"},
		"a working directory that is none":   {func(req *agent.StartRequest) { req.Cwd = "/no/such" }, agent.CodeCwd, `"/no/such"`},
		"a working directory that is a file": {func(req *agent.StartRequest) { req.Cwd = plain }, agent.CodeCwd, "not a directory"},
		"a key that is no key":               {func(req *agent.StartRequest) { req.Key = "a b" }, agent.CodeMalformed, "[A-Za-z0-9_-]"},
		"an argument beyond the kernel's":    {argv(childBinary, strings.Repeat("x", 200<<10)), agent.CodeExec, "too long"},
		"a request beyond the line":          {argv(childBinary, strings.Repeat("x", 300<<10)), agent.CodeMalformed, "line too long"},
	}
	r := newRig(t, "--exec")
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := r.try("echo", tt.change)
			if agent.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.detail) {
				t.Errorf("got %v, want %s … %s", err, tt.code, tt.detail)
			}
		})
	}
	// After all that it still works, relative paths and PATH included.
	p := r.start("", func(req *agent.StartRequest) {
		req.Argv, req.Env["PATH"] = []string{filepath.Base(childBinary), "say:hi"}, filepath.Dir(childBinary)
	})
	if got := r.lines(p).rest(); got != "hi\n" {
		t.Errorf("by PATH: %q", got)
	}
	p = r.start("", func(req *agent.StartRequest) {
		req.Argv, req.Cwd = []string{"./" + filepath.Base(childBinary), "say:ho"}, filepath.Dir(childBinary)
	})
	if got := r.lines(p).rest(); got != "ho\n" {
		t.Errorf("by relative path: %q", got)
	}
}

func TestACommandThatCanNeverStartDoesNotEndTheAgent(t *testing.T) {
	r := newRigOf(t, "no-such-command")
	for range 3 {
		if _, err := r.try(""); agent.CodeOf(err) != agent.CodeNotFound {
			t.Errorf("got %v", err)
		}
	}
	if err := r.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOtherCommandsNeedTheExecFlag(t *testing.T) { // O11
	r := newRig(t)
	_, err := r.try("", func(req *agent.StartRequest) { req.Argv = []string{childBinary} })
	if agent.CodeOf(err) != agent.CodeArgv {
		t.Errorf("got %v", err)
	}
}

func TestRequestsThatAreNoneAreAnsweredClearly(t *testing.T) {
	tests := map[string]struct{ line, want string }{
		"another version":    {`{"v":2,"spawn":{}}`, `"code":"version"`},
		"no JSON":            {"GET / HTTP/1.1", `"code":"malformed"`},
		"a duplicate member": {`{"v":1,"v":1,"ping":{}}`, `twice`},
		"a line too long":    {strings.Repeat("x", 300<<10), `line too long`},
	}
	r := newRig(t)
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c, err := net.Dial("unix", r.Socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			go fmt.Fprintln(c, tt.line)
			got, err := io.ReadAll(c)
			if !strings.Contains(string(got), tt.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestABadCommandEndsTheProcess(t *testing.T) {
	const chosen = `{"way":"descriptors"}` + "\n"
	for name, tt := range map[string]struct{ line, flag string }{
		"no JSON in the place of the choice":  {line: "kill\n"},
		"another command in its place":        {line: `{"stop":{}}` + "\n"},
		"a second choice":                     {line: chosen + chosen},
		"no JSON":                             {line: chosen + "kill\n"},
		"an unknown signal":                   {line: chosen + `{"signal":"STOP"}` + "\n"},
		"a line too long":                     {line: chosen + strings.Repeat("x", 5<<10) + "\n"},
		"a line where a frame was due":        {line: `{"stop":{}}` + "\n", flag: "--relay"},
		"a frame that is too long":            {line: "\x01\x00\x00\x40\x01", flag: "--relay"},
		"an unknown signal in a frame":        {line: "\x05\x00\x00\x00\x11" + `{"signal":"STOP"}`, flag: "--relay"},
		"frames although descriptors arrived": {line: chosen + "\x02\x00\x00\x00\x00\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var flags []string
			if tt.flag != "" {
				flags = append(flags, tt.flag)
			}
			r := newRig(t, flags...)
			c, err := net.Dial("unix", r.Socket)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			io.WriteString(c, `{"v":1,"start":{"key":"k","env":{"CHILD":"hang"},"stdinMillis":1,"termMillis":1}}`+"\n"+tt.line)
			answer := bufio.NewReader(c)
			if got, _ := answer.ReadString('\n'); !strings.Contains(got, `"started"`) {
				t.Fatalf("got %q", got)
			}
			r.eventually("it is gone", func() bool { return len(r.children()) == 0 })
		})
	}
}

func TestTerminationBeginsWithTheEndOfStdin(t *testing.T) { // O3, W18.7
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t, "--termination", "5m")
		heeds := r.start("echo exit:3", patient)
		silent, err := net.Dial("unix", r.Socket) // has not said what it wants
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		r.terminate()
		if got := r.done(heeds); got.Code != 3 { // this package closed its stdin
			t.Errorf("%+v", got)
		}
		if _, err := r.try("echo"); agent.CodeOf(err) != agent.CodeUnreachable {
			t.Errorf("a start after the end: %v", err)
		}
	})
}

func TestTerminationEndsWhateverIsLeft(t *testing.T) { // O3
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t, "--termination", "1s")
		deaf := r.start("daemon deaf say:armed hang", patient)
		out := r.lines(deaf)
		daemon := out.pid()
		out.next()
		r.terminate()
		if got := r.done(deaf); got.Signal != "KILL" {
			t.Errorf("%+v", got)
		}
		if alive(daemon) {
			t.Error("a daemon lives on")
		}
	})
}

func TestStartsAreRefusedWhileTheContainerIsTerminated(t *testing.T) { // O3
	r := newRig(t, "--termination", "5s")
	held := r.start("deaf say:armed hang", patient)
	r.lines(held).next()
	early, err := net.Dial("unix", r.Socket) // accepted before the socket closes
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	r.quit = true
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.eventually("the socket is gone", func() bool { return agent.CodeOf(r.Check(t.Context())) == agent.CodeUnreachable })
	if p, err := r.try("echo"); err == nil {
		p.Close()
		t.Error("a process was started")
	}
	held.Signal(agent.SIGKILL)
	if err := r.wait(); err != nil {
		t.Errorf("exit: %v\n%s", err, r.log)
	}
}

func TestTheDeathOfTheAgentIsSeenAtOnceAndEndsItsChildren(t *testing.T) { // O20
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		p := r.start("hang", patient)
		r.quit = true
		r.cmd.Process.Kill()
		r.cmd.Wait()
		if got := r.done(p); agent.CodeOf(got.Err) != agent.CodeUnreachable || got.Code != -1 {
			t.Errorf("%+v", got)
		}
		r.eventually("the child is gone", func() bool { return !alive(p.PID) }) // Pdeathsig
		if err := r.Check(t.Context()); agent.CodeOf(err) != agent.CodeUnreachable {
			t.Errorf("check: %v", err)
		}
		// The next life of the container finds the stale socket.
		again := exec.Command(agentBinary, "run", "--socket", r.socket, "--", childBinary)
		again.Stderr = r.log
		if err := again.Start(); err != nil {
			t.Fatal(err)
		}
		r.eventually("it answers again", func() bool { return r.Check(t.Context()) == nil })
		again.Process.Signal(syscall.SIGTERM)
		if err := again.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func TestTheSocketIsForEveryUIDAndOthersPathsAreLeftAlone(t *testing.T) { // O9
	r := newRig(t)
	info, err := os.Stat(r.Socket)
	if err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, []byte("precious"), 0o600)
	for name, tt := range map[string]struct{ path, want string }{
		"a living agent's socket": {r.Socket, "somebody listens"},
		"a file":                  {file, "is there and is no socket"},
		"a path that is too long": {"/tmp/" + strings.Repeat("x", 100), "bytes, at most 99"},
		"a directory that is not": {"/no/such/dir/agent.sock", "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := exec.Command(agentBinary, "run", "--socket", tt.path, "--", "x").CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), tt.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	if text, _ := os.ReadFile(file); string(text) != "precious" {
		t.Error("the file was touched")
	}
}

func TestManyProcessesComeAndGoWithoutATrace(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		r := w.rig(t)
		for round := range 5 {
			var all []*agent.Process
			for i := range 20 {
				all = append(all, r.start("echo exit:"+fmt.Sprint((round+i)%8), patient))
			}
			for i, p := range all {
				p.Stop()
				if got := r.done(p); got.Code != (round+i)%8 || got.Err != nil {
					t.Errorf("process %d of round %d: %+v", i, round, got)
				}
				p.Close()
			}
		}
	})
}
