package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

func serveStdio(o options) error {
	if o.garbage {
		fmt.Print("🚀 workload v1 ready\n\n\x1b[32mlistening\x1b[0m\n")
	}
	s := newServer()
	var mu sync.Mutex
	send := func(m message) {
		line := append(raw(m), '\n')
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.Write(line)
	}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		if o.silent {
			continue
		}
		line := append([]byte(nil), in.Bytes()...)
		var m message
		if err := json.Unmarshal(line, &m); err != nil {
			continue
		}
		if !s.take(m, line) {
			continue
		}
		go func() {
			if answer := s.serve(m, send); answer != nil {
				send(*answer)
			}
		}()
	}
	return in.Err()
}
