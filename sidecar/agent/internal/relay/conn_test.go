package relay

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// noise is n bytes that differ.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	all := make([]byte, n)
	for i := range all {
		all[i] = byte(r.Uint32())
	}
	return all
}

func TestBytesGoBothWaysAndEachEndsByItself(t *testing.T) {
	for name, chunk := range map[string]int{"one at a time": 1, "lines": 100, "a frame and a byte": MaxData + 1, "more than the window": 3 * Window} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			total := 5 * Window
			if chunk == 1 {
				total = Window
			}
			there, back := noise(total), noise(total+1)
			send := func(s *side, all []byte) func() {
				return func() {
					for part := range slices.Chunk(all, chunk) {
						if n, err := s.Out.Write(part); n != len(part) || err != nil {
							t.Errorf("wrote %d, %v", n, err)
							return
						}
					}
					if err := s.Out.Close(); err != nil {
						t.Error(err)
					}
				}
			}
			receive := func(s *side, want []byte) func() {
				return func() {
					got, err := io.ReadAll(s.In)
					if err != nil || !bytes.Equal(got, want) {
						t.Errorf("%d bytes came, want %d: %v", len(got), len(want), err)
					}
				}
			}
			concurrently(send(a, there), receive(b, there))
			if err := b.WriteLine([]byte("still here")); err != nil { // the other way is open
				t.Error(err)
			}
			concurrently(send(b, back), receive(a, back))
			if got := <-a.lines; got != "still here" {
				t.Errorf("line %q", got)
			}
			if n, err := a.Out.Write([]byte("x")); n != 0 || !errors.Is(err, os.ErrClosed) {
				t.Errorf("a write after the end: %d, %v", n, err)
			}
		})
	}
}

func TestALineComesAfterWhatWasWrittenBefore(t *testing.T) {
	a, b := pair(t)
	want := noise(3 * MaxData)
	if _, err := a.Out.Write(want); err != nil {
		t.Fatal(err)
	}
	a.Out.Close()
	a.WriteLine([]byte("exit"))
	if got := <-b.lines; got != "exit" {
		t.Fatal(got)
	}
	a.Conn.Close()
	<-b.done
	// All of it is here, whatever has become of the connection.
	if got, err := io.ReadAll(b.In); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestASlowReaderHoldsUpTheWriterAndNothingElse(t *testing.T) { // P11
	for name, chunk := range map[string]int{"in large pieces": 1 << 20, "byte by byte": 1} {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			sent, written := noise(4*Window), make(chan struct{})
			go func() {
				defer close(written)
				for part := range slices.Chunk(sent, chunk) {
					if _, err := a.Out.Write(part); err != nil {
						t.Error(err)
						return
					}
				}
				a.Out.Close()
			}()
			full := func() bool {
				a.mu.Lock()
				defer a.mu.Unlock()
				return a.Out.room <= header
			}
			for !full() {
				time.Sleep(time.Millisecond)
			}
			for range 100 { // lines pass in both directions
				a.WriteLine([]byte("stop"))
				b.WriteLine([]byte("stopping"))
				if <-b.lines+<-a.lines != "stopstopping" {
					t.Fatal("other lines")
				}
			}
			select {
			case <-written:
				t.Error("more was written than the window takes")
			default:
			}
			if received, _ := b.held(); received > 2*Window {
				t.Errorf("the side that is not read holds %d bytes", received)
			}
			if _, unsent := a.held(); unsent > Window {
				t.Errorf("the side that writes holds %d bytes", unsent)
			}
			got, err := io.ReadAll(b.In)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			<-written
		})
	}
}

func TestWhatArrivesForAReaderThatWaitsMayGoStraight(t *testing.T) {
	for name, most := range map[string]int{"all of it": 1 << 20, "a part": 700, "nothing": 0} {
		t.Run(name, func(t *testing.T) {
			x, y := sockets(t)
			a, b := newSide(t, x).run(t), newSide(t, y)
			var got bytes.Buffer
			b.In.Straight(func(p []byte) int {
				n := min(len(p), most)
				got.Write(p[:n])
				return n
			})
			b.run(t)
			sent, copied := noise(4*Window), make(chan error)
			go func() {
				buf := make([]byte, 1000)
				for {
					n, err := b.In.Read(buf)
					b.mu.Lock() // in the place of the order of a pipe
					got.Write(buf[:n])
					b.mu.Unlock()
					if err != nil {
						copied <- err
						return
					}
				}
			}()
			for part := range slices.Chunk(sent, 999) {
				if _, err := a.Out.Write(part); err != nil {
					t.Fatal(err)
				}
			}
			a.Out.Close()
			if err := <-copied; !errors.Is(err, io.EOF) || !bytes.Equal(got.Bytes(), sent) {
				t.Errorf("%d bytes, want %d: %v", got.Len(), len(sent), err)
			}
		})
	}
}

func TestCallsThatWaitAreInterrupted(t *testing.T) {
	past := time.Unix(1, 0)
	read := func(s *side) error { _, err := s.In.Read(make([]byte, 1)); return err }
	write := func(s *side) error { _, err := s.Out.Write(make([]byte, 2*Window)); return err }
	tests := map[string]struct {
		call      func(*side) error
		interrupt func(near, far *side)
		want      error
	}{
		"a read by its deadline":                {read, func(s, _ *side) { s.In.SetReadDeadline(past) }, os.ErrDeadlineExceeded},
		"a read by a deadline that comes":       {read, func(s, _ *side) { s.In.SetReadDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded},
		"a read by closing it":                  {read, func(s, _ *side) { s.In.Close() }, os.ErrClosed},
		"a read by the end of the stream":       {read, func(_, far *side) { far.Out.Close() }, io.EOF},
		"a read by the end of the connection":   {read, func(_, far *side) { far.Conn.Close() }, io.EOF},
		"a write by its deadline":               {write, func(s, _ *side) { s.Out.SetWriteDeadline(past) }, os.ErrDeadlineExceeded},
		"a write by a deadline that comes":      {write, func(s, _ *side) { s.Out.SetWriteDeadline(time.Now().Add(time.Millisecond)) }, os.ErrDeadlineExceeded},
		"a write by closing it":                 {write, func(s, _ *side) { s.Out.Close() }, os.ErrClosed},
		"a write by a peer that is not to read": {write, func(_, far *side) { far.In.Close() }, unix.EPIPE},
		"a write by the end of the connection":  {write, func(_, far *side) { far.conn.Close() }, unix.EPIPE},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t)
			ended := make(chan error, 1)
			go func() { ended <- tt.call(a) }()
			tt.interrupt(a, b) // before or while it waits
			if err := <-ended; !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestADeadlineThatIsTakenBackDoesNotHold(t *testing.T) {
	a, b := pair(t)
	a.In.SetReadDeadline(time.Unix(1, 0))
	if _, err := a.In.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("before: %v", err)
	}
	a.In.SetReadDeadline(time.Time{})
	b.Out.Write([]byte("x"))
	if n, err := a.In.Read(make([]byte, 1)); n != 1 || err != nil {
		t.Errorf("after: %d, %v", n, err)
	}
}

func TestAPeerIsToldOnceThatItsStreamIsNotWanted(t *testing.T) {
	a, b := pair(t)
	a.Out.Write([]byte("lost"))
	b.In.Close()
	if err := b.In.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
	<-a.refused
	if _, err := a.Out.Write([]byte("x")); !errors.Is(err, unix.EPIPE) {
		t.Errorf("a write: %v", err)
	}
	if _, err := b.In.Read(nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a read: %v", err)
	}
	b.WriteLine([]byte("on"))
	if got := <-a.lines; got != "on" { // the connection is well
		t.Errorf("line %q", got)
	}
	if len(a.refused) > 0 {
		t.Error("told twice")
	}
}

func TestWhatAPeerSaidBeforeItHungUpIsRead(t *testing.T) {
	x, y := sockets(t)
	b := newSide(t, y).run(t)
	b.Out.Write([]byte("last words"))
	b.WriteLine([]byte("exit"))
	b.Conn.Close()
	<-b.done
	a := newSide(t, x)
	if _, err := a.Out.Write([]byte("too late")); err != nil && !errors.Is(err, unix.EPIPE) {
		t.Errorf("a write: %v", err)
	}
	if err := a.WriteLine([]byte("stop")); !errors.Is(err, unix.EPIPE) {
		t.Errorf("a line: %v", err)
	}
	a.run(t)
	if got := <-a.lines; got != "exit" {
		t.Errorf("line %q", got)
	}
	if got, err := io.ReadAll(a.In); err != nil || string(got) != "last words" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestCloseLeavesNothingBehindThatWasWritten(t *testing.T) {
	x, y := sockets(t)
	a := newSide(t, x)
	x.SetWriteBuffer(4 << 10) // so that the socket is full at once
	want := noise(Window - 8*header)
	if _, err := a.Out.Write(want); err != nil {
		t.Fatal(err)
	}
	a.Out.Close()
	a.WriteLine([]byte("bye"))
	if _, unsent := a.held(); unsent == 0 {
		t.Error("nothing waits for the peer")
	}
	a.Conn.Close()
	a.WriteLine([]byte("after the end"))
	b := newSide(t, y).run(t)
	got, err := io.ReadAll(b.In)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d: %v", len(got), len(want), err)
	}
	if got := <-b.lines; got != "bye" {
		t.Errorf("line %q", got)
	}
	<-b.done
	if len(b.lines) > 0 {
		t.Errorf("another line: %q", <-b.lines)
	}
	a.Flush()
}

func TestAPeerThatDoesNotReadItsSocketEndsTheConnection(t *testing.T) {
	t.Run("by the bound of what waits for it", func(t *testing.T) {
		x, _ := sockets(t)
		a := newSide(t, x).run(t)
		most := 0
		for range 1 << 20 {
			if err := a.WriteLine(make([]byte, 4<<10)); err != nil {
				if !errors.Is(err, ErrStalled) {
					t.Errorf("ends with %v", err)
				}
				break
			}
			_, unsent := a.held()
			most = max(most, unsent)
		}
		if most > maxUnsent || most == 0 {
			t.Errorf("%d bytes waited", most)
		}
		<-a.done
	})
	t.Run("by time", func(t *testing.T) {
		x, _ := sockets(t)
		a := newSide(t, x)
		a.stall = time.Millisecond
		a.run(t)
		for range 60 { // less than the bound beyond what the socket takes
			a.WriteLine(make([]byte, 4<<10))
		}
		a.Flush()
		<-a.done
		if !errors.Is(a.err, ErrStalled) {
			t.Errorf("ends with %v", a.err)
		}
		if _, err := a.Out.Write([]byte("x")); !errors.Is(err, unix.EPIPE) {
			t.Errorf("a write: %v", err)
		}
	})
}

func TestFramesThatNoPeerSends(t *testing.T) {
	frame := func(k kind, body string) string { return string(appendHeader(nil, k, len(body))) + body }
	data := frame(kindData, strings.Repeat("x", MaxData))
	for name, tt := range map[string]struct{ raw, want string }{
		"an unknown kind":            {frame(9, ""), "unknown kind 9"},
		"no kind":                    {frame(0, ""), "unknown kind 0"},
		"data that is none":          {frame(kindData, ""), "data frame of 0 bytes"},
		"too much data":              {frame(kindData, strings.Repeat("x", MaxData+1)), "data frame of 16385 bytes"},
		"an eof with something":      {frame(kindEOF, "x"), "eof frame of 1 bytes"},
		"a closed with something":    {frame(kindClosed, "x"), "closed frame of 1 bytes"},
		"a short credit":             {frame(kindCredit, "xyz"), "credit frame of 3 bytes"},
		"an empty line":              {frame(kindLine, ""), "line frame of 0 bytes"},
		"a line over its bound":      {frame(kindLine, strings.Repeat("x", 101)), "line frame of 101 bytes"},
		"a length of four gigabytes": {"\x01\xff\xff\xff\xff", "data frame of 4294967295 bytes"},
		"data after the end":         {frame(kindEOF, "") + frame(kindData, "x"), "after the end"},
		"a second end":               {frame(kindEOF, "") + frame(kindEOF, ""), "a second end"},
		"data beyond the window":     {data + data + data + data, "beyond the window"},
		"credit for nothing":         {frame(kindCredit, "\x00\x00\x00\x01"), "a credit of 1 bytes, 0 are under way"},
		"credit of nothing":          {frame(kindCredit, "\x00\x00\x00\x00"), "a credit of 0 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			x, y := sockets(t)
			a := newSide(t, x).run(t)
			go io.WriteString(y, tt.raw)
			<-a.done
			var bad *FrameError
			if !errors.As(a.end, &bad) || !strings.Contains(bad.Error(), tt.want) {
				t.Errorf("ends with %v, want %q", a.end, tt.want)
			}
			var err error
			for err == nil { // what came before is read first
				_, err = a.In.Read(make([]byte, Window))
			}
			if tt.raw[0] != byte(kindEOF) && !errors.As(err, &bad) {
				t.Errorf("reading ends with %v", err)
			}
			if _, err := a.Out.Write([]byte("x")); !errors.Is(err, unix.EPIPE) {
				t.Errorf("writing: %v", err)
			}
		})
	}
}

func TestAConnectionThatEndsInsideAFrame(t *testing.T) {
	for name, raw := range map[string]string{
		"in the header": "\x01\x00",
		"in the data":   "\x01\x00\x00\x00\x05ab",
		"in a line":     "\x05\x00\x00\x00\x05ab",
	} {
		t.Run(name, func(t *testing.T) {
			x, y := sockets(t)
			a := newSide(t, x).run(t)
			io.WriteString(y, raw)
			y.Close()
			<-a.done
			if !errors.Is(a.end, io.ErrUnexpectedEOF) {
				t.Errorf("ends with %v", a.end)
			}
		})
	}
}

func TestWhatWasReadBeforeIsNotLost(t *testing.T) {
	x, y := sockets(t)
	first := string(appendHeader(nil, kindLine, 3)) + "one" + string(appendHeader(nil, kindLine, 3)) + "t"
	c, err := New(x, io.MultiReader(strings.NewReader(first), x), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(y, "wo")
	for _, want := range []string{"one", "two"} {
		if got, err := c.Next(9); err != nil || string(got) != want {
			t.Errorf("%q, %v", got, err)
		}
	}
}

func TestADeadlineOfTheSocketIsForgotten(t *testing.T) {
	x, y := sockets(t)
	x.SetDeadline(time.Unix(1, 0))
	a, b := newSide(t, x).run(t), newSide(t, y).run(t)
	a.WriteLine([]byte("there"))
	b.WriteLine([]byte("back"))
	if <-b.lines+<-a.lines != "thereback" {
		t.Error("other lines")
	}
}

// BenchmarkRoundTrip is a line of 200 bytes there and back.
func BenchmarkRoundTrip(b *testing.B) {
	run := func(b *testing.B, near, far io.ReadWriter) {
		go io.Copy(far, far)
		msg := noise(200)
		buf := make([]byte, len(msg))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := near.Write(msg); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(near, buf); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("socket", func(b *testing.B) {
		x, y := sockets(b)
		run(b, onlyRW{x}, onlyRW{y})
	})
	b.Run("relay", func(b *testing.B) {
		x, y := pair(b)
		run(b, rw{x.In, x.Out}, rw{y.In, y.Out})
	})
}

type onlyRW struct{ c *net.UnixConn }

func (c onlyRW) Read(p []byte) (int, error)  { return c.c.Read(p) }
func (c onlyRW) Write(p []byte) (int, error) { return c.c.Write(p) }

type rw struct {
	io.Reader
	io.Writer
}
