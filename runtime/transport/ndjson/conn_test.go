package ndjson

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other end of a Conn on in-memory pipes.
type peer struct {
	*Conn
	in  *io.PipeReader // what the Conn writes
	out *io.PipeWriter // what the Conn reads

	mu    sync.Mutex
	lines []string
	ended error
}

func dial(cfg Config) *peer {
	p := &peer{}
	var in *io.PipeWriter
	var out *io.PipeReader
	p.in, in = io.Pipe()
	out, p.out = io.Pipe()
	cfg.In, cfg.Out = in, out
	cfg.Deliver = func(l Line) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.lines = append(p.lines, string(l.Data))
	}
	cfg.Ended = func(err error) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.ended = err
	}
	p.Conn = Open(cfg)
	return p
}

func (p *peer) got() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lines
}

func TestMessagesTravelBothWaysInOrder(t *testing.T) {
	p := dial(Config{})
	said := make(chan struct{})
	go func() {
		defer close(said)
		_, _ = io.WriteString(p.out, "{\"a\":1}\n{\"a\":2}\n")
	}()
	big := `{"x":"` + strings.Repeat("y", 200_000) + `"}`
	// C08, P9: larger than a pipe holds; pretty-printed text goes out as one line.
	for _, msg := range []string{`{"m":1}`, "{\n  \"m\": 2,\r\n  \"s\": \"a b\" }", big, `{"m":4}`} {
		if err := p.Send(t.Context(), []byte(msg)); err != nil {
			t.Fatal(err)
		}
	}
	r := bufio.NewReaderSize(p.in, 1<<20)
	for _, want := range []string{`{"m":1}`, `{"m": 2,"s": "a b" }`, big, `{"m":4}`} {
		line, err := r.ReadString('\n')
		if err != nil || line != want+"\n" {
			t.Fatalf("read %.40q, %v; want %.40q", line, err, want)
		}
	}
	<-said
	_ = p.out.Close()
	p.Wait()
	if diff := cmp.Diff([]string{`{"a":1}`, `{"a":2}`}, p.got()); diff != "" {
		t.Error(diff)
	}
	if !errors.Is(p.Err(), ErrEnded) || !errors.Is(p.ended, ErrEnded) {
		t.Errorf("ended with %v, told %v", p.Err(), p.ended)
	}
	if err := p.Send(t.Context(), []byte("{}")); !errors.Is(err, ErrEnded) {
		t.Errorf("send after the end: %v", err)
	}
}

// D3: a peer that stops reading blocks nobody for ever.
func TestAPeerThatStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(Config{QueueMessages: 2, WriteTimeout: 30 * time.Second})
		for range 3 { // one in the writer's hands, two queued
			if err := p.Send(t.Context(), []byte("{}")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("mine"))
		defer cancel()
		if err := p.Send(ctx, []byte("{}")); err == nil || err.Error() != "mine" {
			t.Errorf("a full queue answers %v, want the caller's own cause", err)
		}
		if err := p.Send(t.Context(), []byte("{}")); !errors.Is(err, ErrStalled) {
			t.Errorf("waiting at the bound ends with %v", err)
		}
		_ = p.out.Close()
		p.Wait()
		if !errors.Is(p.Err(), ErrStalled) {
			t.Errorf("ended with %v", p.Err())
		}
	})
}

func TestAStalledOperatingSystemPipe(t *testing.T) {
	inR, inW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer inR.Close()
	defer outW.Close()
	c := Open(Config{In: inW, Out: outR, Deliver: func(Line) {}, WriteTimeout: 10 * time.Millisecond})
	if err := c.Send(t.Context(), []byte(strings.Repeat(" ", 1<<20)+"{}")); err != nil {
		t.Fatal(err)
	}
	<-c.Done()
	c.Wait()
	if !errors.Is(c.Err(), ErrStalled) {
		t.Errorf("ended with %v", c.Err())
	}
}

// W18.7: half-close comes after everything queued, and answers still arrive.
func TestCloseInput(t *testing.T) {
	p := dial(Config{})
	for range 3 {
		if err := p.Send(t.Context(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	p.CloseInput()
	if err := p.Send(t.Context(), []byte("{}")); !errors.Is(err, ErrClosed) {
		t.Errorf("send after half-close: %v", err)
	}
	all, err := io.ReadAll(p.in)
	if err != nil || string(all) != "{}\n{}\n{}\n" {
		t.Errorf("read %q, %v", all, err)
	}
	_, _ = io.WriteString(p.out, "{\"late\":1}\n")
	_ = p.out.Close()
	p.Wait()
	if diff := cmp.Diff([]string{`{"late":1}`}, p.got()); diff != "" {
		t.Error(diff)
	}
}

func TestAnswersAreReadAfterThePeerClosedItsInput(t *testing.T) {
	for name, end := range map[string]bool{"and then its output": true, "and nothing more": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := dial(Config{})
				_ = p.in.Close()
				if err := p.Send(t.Context(), []byte("{}")); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				_, _ = io.WriteString(p.out, "{\"answer\":1}\n")
				if end {
					_ = p.out.Close()
				}
				p.Wait() // virtual time: the linger passes where the output stays open
				if diff := cmp.Diff([]string{`{"answer":1}`}, p.got()); diff != "" {
					t.Error(diff)
				}
				if !errors.Is(p.Err(), ErrEnded) {
					t.Errorf("ended with %v", p.Err())
				}
				time.Sleep(2 * linger)
			})
		})
	}
}

func TestCloseIsIdempotentAndKeepsTheFirstCause(t *testing.T) {
	p := dial(Config{})
	first := errors.New("first")
	var wg sync.WaitGroup
	p.Close(first)
	for range 8 {
		wg.Go(func() { p.Close(errors.New("later")) })
	}
	wg.Wait()
	p.Wait()
	if !errors.Is(p.Err(), first) || !errors.Is(p.ended, first) {
		t.Errorf("%v, %v", p.Err(), p.ended)
	}
	if err := p.Send(t.Context(), nil); !errors.Is(err, first) {
		t.Errorf("send: %v", err)
	}
}

func BenchmarkReader(b *testing.B) {
	line := `{"jsonrpc":"2.0","id":41,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 100) + `"}]}}` + "\n"
	src := strings.NewReader(strings.Repeat(line, 1000))
	r := NewReader(src, 1<<20)
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			src.Seek(0, io.SeekStart)
			r = NewReader(src, 1<<20)
		}
	}
}
