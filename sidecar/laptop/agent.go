package laptop

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent/supervisor"
	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// ready is what an agent says when its socket is there.
const ready = "ready\n"

// stopTime bounds the wait for an agent that has been told to end; by its own
// clocks it has ended before.
const stopTime = supervisor.DefaultTermination + 5*time.Second

// errAgentEnded: without it no process can be started, and none is left.
var errAgentEnded = errors.New("the process that runs the commands has ended")

// ServeAgent owns the commands, where a pod has an agent in the workload's
// container: in a process of its own, so that nothing is left of them when the
// one that wants them is killed. It serves on a unix socket at path until life
// ends, which is the end of that process. relay is as in Supervisor.
func ServeAgent(life io.Reader, path string, command []string, relay bool, out, stderr io.Writer) error {
	// What a terminal sends to everybody is the other process's to deal with.
	// Ignored signals would stay ignored in the commands.
	forgotten := make(chan os.Signal, 1)
	signal.Notify(forgotten, syscall.SIGINT, syscall.SIGHUP, syscall.SIGPIPE)
	defer signal.Stop(forgotten)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	l, err := socket.Listen(path)
	if err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(io.Discard, life) // however it ends
		stop()
	}()
	if _, err := io.WriteString(out, ready); err != nil {
		_ = l.Close()
		return err
	}
	log := supervisor.NewLog(stderr)
	defer log.Close(200 * time.Millisecond)
	err = (&supervisor.Supervisor{Command: command, Env: os.Environ(), Relay: relay, Log: log}).Serve(ctx, l)
	sweep() // what its clocks were too short for: here no kernel ends it with us
	// The directory was made for the socket, by who may have been killed.
	_ = os.Remove(filepath.Dir(path))
	return err
}

// localAgent is the process that runs ServeAgent.
type localAgent struct {
	socket string
	dir    string
	cmd    *exec.Cmd
	life   io.Closer
	done   chan struct{} // closed when it has ended
}

// startAgent starts one; stderr gets what the commands write there. The caller
// stops it, which ends every process.
func (o *Options) startAgent(stderr io.Writer) (*localAgent, error) {
	dir, err := os.MkdirTemp("", "fairlead-")
	if err != nil {
		return nil, err
	}
	adopt()
	a := &localAgent{socket: filepath.Join(dir, "agent.sock"), dir: dir, done: make(chan struct{})}
	if err := a.start(o.Agent(a.socket, o.Command), stderr); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return a, nil
}

func (a *localAgent) start(cmd *exec.Cmd, stderr io.Writer) error {
	a.cmd = cmd
	cmd.Stderr = stderr
	// Ctrl-C is for us: requests are to finish first.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A command that outlives the agent may hold its stderr.
	cmd.WaitDelay = time.Second
	life, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	a.life = life
	line, err := bufio.NewReader(out).ReadString('\n')
	go func() {
		defer close(a.done)
		_ = cmd.Wait() // how it ended is in its own words on stderr
	}()
	if line != ready {
		a.stop()
		return fmt.Errorf("%w: %w", errAgentEnded, err)
	}
	return nil
}

// ended reports whether it has ended by itself.
func (a *localAgent) ended() bool {
	select {
	case <-a.done:
		return true
	default:
		return false
	}
}

func (a *localAgent) stop() {
	_ = a.life.Close() // it may have ended
	t := time.AfterFunc(stopTime, func() { _ = a.cmd.Process.Kill() })
	defer t.Stop()
	<-a.done
	sweep()
	_ = os.RemoveAll(a.dir)
}
