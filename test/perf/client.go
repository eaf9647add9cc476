package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// wire is one HTTP/1.1 connection that costs as little as possible, so that
// the machine is left to the server.
type wire struct {
	conn net.Conn
	in   *bufio.Reader
}

func dialWire(ctx context.Context, addr string) (*wire, error) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &wire{conn: conn, in: bufio.NewReaderSize(conn, 16<<10)}, nil
}

func (w *wire) close() { _ = w.conn.Close() }

// head is what matters of a response's head.
type head struct {
	status  int
	length  int // -1: chunked
	session string
}

// readHead reads the head of a response.
func (w *wire) readHead() (head, error) {
	h := head{}
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return h, err
	}
	if len(line) < 12 {
		return h, fmt.Errorf("status line %q", line)
	}
	if h.status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return h, err
	}
	for {
		line, err := w.in.ReadSlice('\n')
		if err != nil {
			return h, err
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			return h, nil
		}
		name, value, _ := strings.Cut(string(line), ": ")
		switch strings.ToLower(name) {
		case "content-length":
			if h.length, err = strconv.Atoi(value); err != nil {
				return h, err
			}
		case "transfer-encoding":
			h.length = -1
		case "mcp-session-id":
			h.session = value
		}
	}
}

// readChunk returns the next chunk of a chunked body; nil at its end. The
// bytes are valid until the next read.
func (w *wire) readChunk(buf []byte) ([]byte, error) {
	line, err := w.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(string(bytes.TrimRight(line, "\r\n")), 16, 32)
	if err != nil {
		return nil, err
	}
	if int(n) > cap(buf) {
		buf = make([]byte, n)
	}
	if _, err := io.ReadFull(w.in, buf[:n]); err != nil {
		return nil, err
	}
	if _, err := w.in.Discard(2); err != nil {
		return nil, err
	}
	return buf[:n], nil
}

// roundTrip sends a request and reads the whole answer.
func (w *wire) roundTrip(request []byte, body *bytes.Buffer) (head, error) {
	if _, err := w.conn.Write(request); err != nil {
		return head{}, err
	}
	h, err := w.readHead()
	if err != nil {
		return h, err
	}
	body.Reset()
	if h.length >= 0 {
		_, err = io.CopyN(body, w.in, int64(h.length))
		return h, err
	}
	var buf [4096]byte
	for {
		chunk, err := w.readChunk(buf[:])
		if err != nil || len(chunk) == 0 {
			return h, err
		}
		body.Write(chunk)
	}
}

// usual are the fields that a client on Node sends whatever it asks for.
const usual = "Connection: keep-alive\r\nAccept-Language: *\r\nSec-Fetch-Mode: cors\r\nUser-Agent: node\r\nAccept-Encoding: gzip, deflate\r\n"

// post makes the bytes of a POST to the endpoint.
func post(addr, body string, headers ...string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "POST /mcp HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s", addr, len(body), usual)
	for _, h := range headers {
		b.WriteString(h + "\r\n")
	}
	b.WriteString("\r\n" + body)
	return b.Bytes()
}

// callID is the id in requests; each connection has its own of as many digits,
// for one session may serve them all.
const callID = `"id":70`

// hammer sends the request n times over a few connections, checks that each
// answer is 200 and holds want, and returns the first error.
func hammer(ctx context.Context, addr string, request []byte, want string, conns, n int) error {
	errs := make([]error, conns)
	var wg sync.WaitGroup
	for i := range conns {
		own := bytes.Replace(request, []byte(callID), fmt.Appendf(nil, `"id":%d`, 10+i), 1)
		wg.Go(func() { errs[i] = hammerOne(ctx, addr, own, []byte(want), n/conns) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func hammerOne(ctx context.Context, addr string, request, want []byte, n int) error {
	w, err := dialWire(ctx, addr)
	if err != nil {
		return err
	}
	defer w.close()
	defer context.AfterFunc(ctx, w.close)()
	var body bytes.Buffer
	for range n {
		h, err := w.roundTrip(request, &body)
		if err != nil {
			return err
		}
		if h.status != 200 || !bytes.Contains(body.Bytes(), want) {
			return fmt.Errorf("status %d, body %.300q", h.status, body.Bytes())
		}
	}
	return nil
}
