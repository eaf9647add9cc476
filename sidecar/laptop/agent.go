package laptop

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/fairlead-dev/fairlead/sidecar/agent/supervisor"
	"github.com/fairlead-dev/fairlead/sidecar/socket"
)

// localAgent is an agent in this process, where a pod has one in the
// workload's container.
type localAgent struct {
	socket string
	stop   func()
}

// startAgent starts one; stderr gets what the commands write there. The caller
// stops it, which ends every process.
func startAgent(command []string, stderr io.Writer) (*localAgent, error) {
	dir, err := os.MkdirTemp("", "fairlead-")
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "agent.sock")
	l, err := socket.Listen(path)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	log := supervisor.NewLog(stderr)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s := &supervisor.Supervisor{Command: command, Env: os.Environ(), Log: log}
		if err := s.Serve(ctx, l); err != nil {
			log.Printf("%v", err)
		}
	}()
	return &localAgent{socket: path, stop: func() {
		cancel()
		<-done
		log.Close(200 * time.Millisecond)
		_ = os.RemoveAll(dir)
	}}, nil
}
