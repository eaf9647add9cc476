package hook

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Both sides come in one release, in one pod, so there is nothing to parse:
// a line is one of ours, byte for byte, or it is not.
func request(kind Kind) string      { return `{"v":1,"hook":"` + string(kind) + `"}` }
func answer(outcome Outcome) string { return `{"v":1,"outcome":"` + string(outcome) + `"}` }

// maxLine is more than any line of ours.
const maxLine = 128

// handler is one hook that is waiting.
type handler struct {
	server  *Server
	conn    *net.UnixConn
	trusted bool
}

// serve answers the hook; it returns when ctx ends, too.
func (h *handler) serve(ctx context.Context) {
	stop := context.AfterFunc(ctx, func() { h.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	h.conn.SetReadDeadline(time.Now().Add(lineTimeout))
	line, err := readLine(h.conn)
	kind := KindUnknown
	for _, k := range []Kind{KindSidecar, KindWorkload} {
		if err == nil && line == request(k) {
			kind = k
		}
	}
	switch {
	case kind == KindUnknown:
		h.end(kind, OutcomeMalformed)
		return
	case kind == KindSidecar && !h.trusted:
		h.end(kind, OutcomeForbidden)
		return
	}
	// Nothing more is to come, so whatever ends this read is the hook's end:
	// the kubelet gave up on it, or somebody who does not keep to the protocol.
	var watch sync.WaitGroup
	here, gone := context.WithCancel(ctx)
	h.conn.SetReadDeadline(time.Time{})
	watch.Go(func() {
		defer gone()
		_, _ = h.conn.Read(make([]byte, 1))
	})
	outcome := h.server.decide(here, kind)
	h.end(kind, outcome)
	watch.Wait()
}

// end answers and closes.
func (h *handler) end(kind Kind, outcome Outcome) {
	h.conn.SetWriteDeadline(time.Now().Add(lineTimeout))
	if outcome != OutcomeGone {
		io.WriteString(h.conn, answer(outcome)+"\n")
	}
	h.conn.Close()
	h.server.observe(kind, outcome)
}

// readLine reads one line of ours without its newline.
func readLine(r io.Reader) (string, error) {
	line, err := bufio.NewReader(io.LimitReader(r, maxLine)).ReadString('\n')
	if err != nil {
		return "", err
	}
	return line[:len(line)-1], nil
}
