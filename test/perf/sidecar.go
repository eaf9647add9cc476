package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// build compiles a command of this tree into dir, so that no binary of
// yesterday is measured. module is the folder of its go.mod.
func build(ctx context.Context, module, pkg, dir string) (string, error) {
	name := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", "-s -w", "-o", name, pkg)
	cmd.Dir = module
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("build %s: %w", pkg, err)
	}
	return name, nil
}

// sidecar is mcp-sidecar run in front of a workload: the product as it is.
type sidecar struct {
	*foreign
	metrics string
}

// sidecar starts binary with the arguments that name the workload.
func (f *fleet) sidecar(binary string, workload ...string) (*sidecar, error) {
	metrics, err := freeAddr()
	if err != nil {
		return nil, err
	}
	argv := append([]string{binary, "run", "--listen", "127.0.0.1:0", "--metrics", metrics}, workload...)
	p, err := f.foreign("", argv...)
	return &sidecar{foreign: p, metrics: "http://" + metrics + "/metrics"}, err
}

// program is it with a request.
func (s *sidecar) program(name string, request []byte) *program {
	return &program{name: name, addr: s.addr, pid: s.cmd.Process.Pid, request: request, allocations: s.allocations}
}

// scraper asks for what costs the sidecar least to say.
var scraper = http.Client{Transport: &http.Transport{DisableCompression: true}, Timeout: 10 * time.Second}

// allocations reads the counter of the Go runtime that the sidecar tells with
// its metrics, twice, to know what telling it takes.
func (s *sidecar) allocations() (total, own float64, err error) {
	first, err := s.mallocs()
	if err != nil {
		return 0, 0, err
	}
	second, err := s.mallocs()
	return second, second - first, err
}

func (s *sidecar) mallocs() (n float64, err error) {
	resp, err := scraper.Get(s.metrics)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "go_memstats_mallocs_total "); ok {
			return strconv.ParseFloat(text, 64)
		}
	}
	return 0, errors.Join(errors.New("the sidecar does not tell its allocations"), lines.Err())
}
