package agent_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fairlead-dev/fairlead/sidecar/agent"
)

// The workload owns the socket's directory, so whatever listens there may be
// anything. None of it may hang, crash or cost descriptors.
func TestAnAgentThatIsNone(t *testing.T) {
	const started = `{"v":1,"started":{"pid":7}}` + "\n"
	pipe := func(t *testing.T) (r, w int) {
		var ends [2]int
		if err := unix.Pipe2(ends[:], unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(ends[0]); unix.Close(ends[1]) })
		return ends[0], ends[1]
	}
	tests := map[string]struct {
		answer string
		fds    func(t *testing.T) []int
		code   agent.Code
	}{
		"closes at once":              {"", nil, agent.CodeUnreachable},
		"answers half a line":         {`{"v":1,`, nil, agent.CodeUnreachable},
		"answers no JSON":             {"HTTP/1.1 400\n", nil, agent.CodeProtocol},
		"speaks another version":      {`{"v":2,"ok":{}}` + "\n", nil, agent.CodeVersion},
		"answers a ping":              {`{"v":1,"pong":{"processes":0,"max":1}}` + "\n", nil, agent.CodeProtocol},
		"refuses with its own reason": {`{"v":1,"error":{"code":"bored","message":"m"}}` + "\n", nil, agent.CodeProtocol},
		"never ends its line":         {strings.Repeat("x", 200<<10), nil, agent.CodeProtocol},
		"sends no descriptors":        {started, nil, agent.CodeProtocol},
		"sends one": {started, func(t *testing.T) []int {
			_, w := pipe(t)
			return []int{w}
		}, agent.CodeProtocol},
		"sends three": {started, func(t *testing.T) []int {
			r, w := pipe(t)
			return []int{w, r, w}
		}, agent.CodeProtocol},
		"sends the ends the wrong way": {started, func(t *testing.T) []int {
			r, w := pipe(t)
			return []int{r, w}
		}, agent.CodeProtocol},
		"sends the right stdin and a wrong stdout": {started, func(t *testing.T) []int {
			_, w := pipe(t)
			return []int{w, w}
		}, agent.CodeProtocol},
		"sends a file": {started, func(t *testing.T) []int {
			f, err := os.CreateTemp(t.TempDir(), "")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			return []int{int(f.Fd()), int(f.Fd())}
		}, agent.CodeProtocol},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var oob []byte
			if tt.fds != nil {
				oob = unix.UnixRights(tt.fds(t)...)
			}
			d := listen(t, func(c *net.UnixConn) {
				c.WriteMsgUnix([]byte(tt.answer), oob, nil)
			})
			before := openDescriptors(t)
			_, err := d.Start(t.Context(), agent.StartRequest{Key: "k"})
			if agent.CodeOf(err) != tt.code {
				t.Errorf("got %v, want %s", err, tt.code)
			}
			// The fake's own end of the connection may not be closed yet.
			for deadline := time.Now().Add(10 * time.Second); openDescriptors(t) > before; {
				if time.Now().After(deadline) {
					t.Fatalf("%d descriptors, %d before", openDescriptors(t), before)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}

func TestReportsThatMakeNoSenseEndTheProcess(t *testing.T) {
	for name, tt := range map[string]struct {
		report string
		code   agent.Code
	}{
		"no JSON":         {"gone\n", agent.CodeProtocol},
		"a line too long": {strings.Repeat("x", 100<<10), agent.CodeProtocol},
		"nothing":         {"", agent.CodeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			p := startFake(t, tt.report)
			select {
			case <-p.Done():
			case <-time.After(10 * time.Second):
				t.Fatal("Done does not close")
			}
			if got := p.Exit(); agent.CodeOf(got.Err) != tt.code {
				t.Errorf("got %+v", got)
			}
			p.Close()
		})
	}
}

func TestTheReplyAndTheFirstReportMayComeTogether(t *testing.T) {
	p := startFake(t, `{"stopping":{}}`+"\n"+`{"exit":{"code":3,"signal":"","stderrTail":["a"]}}`+"\n")
	<-p.Done()
	if got := p.Exit(); got.Code != 3 || got.Err != nil {
		t.Errorf("got %+v", got)
	}
	if _, err := p.Stdin.Write([]byte("x")); err == nil {
		t.Error("stdin is open although the container is terminated")
	}
	p.Close()
}

// relayed is the start of an answer whose streams are relayed.
const relayed = `{"v":1,"started":{"pid":7,"way":"relay"}}` + "\n"

// The frames of the relay, as they are written down in its package.
func frame(kind byte, body string) string {
	return string([]byte{kind, 0, 0, byte(len(body) >> 8), byte(len(body))}) + body
}

func TestFramesThatMakeNoSenseEndTheProcess(t *testing.T) {
	for name, tt := range map[string]struct {
		frames string
		code   agent.Code
	}{
		"an unknown kind":          {frame(9, ""), agent.CodeProtocol},
		"more than a frame holds":  {frame(1, strings.Repeat("x", 16385)), agent.CodeProtocol},
		"more than the window":     {strings.Repeat(frame(1, strings.Repeat("x", 16384)), 4), agent.CodeProtocol},
		"a report that is none":    {frame(5, "gone"), agent.CodeProtocol},
		"a line in place of frame": {`{"exit":{"code":3}}` + "\n", agent.CodeProtocol},
		"half a frame":             {"\x01\x00", agent.CodeUnreachable},
		"nothing":                  {"", agent.CodeUnreachable},
	} {
		t.Run(name, func(t *testing.T) {
			d := listen(t, func(c *net.UnixConn) { io.WriteString(c, relayed+tt.frames) })
			p, err := d.Start(t.Context(), agent.StartRequest{Key: "k"})
			if err != nil {
				t.Fatal(err)
			}
			<-p.Done()
			if got := p.Exit(); agent.CodeOf(got.Err) != tt.code || got.Code != -1 {
				t.Errorf("got %+v", got)
			}
			if _, err := p.Stdin.Write([]byte("x")); err == nil {
				t.Error("stdin is open")
			}
			p.Close()
		})
	}
}

func TestFramesMayComeWithTheReply(t *testing.T) {
	frames := frame(1, "a") + frame(5, `{"stopping":{}}`) + frame(1, "b") + frame(2, "") + frame(5, `{"exit":{"code":3}}`)
	d := listen(t, func(c *net.UnixConn) { io.WriteString(c, relayed+frames) })
	told := 0
	d.Started = func(relayed bool) {
		if relayed {
			told++
		}
	}
	p, err := d.Start(t.Context(), agent.StartRequest{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	<-p.Done()
	if got := p.Exit(); got.Code != 3 || got.Err != nil {
		t.Errorf("got %+v", got)
	}
	if got, err := io.ReadAll(p.Stdout); string(got) != "ab" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := p.Stdin.Write([]byte("x")); err == nil {
		t.Error("stdin is open although the container is terminated")
	}
	if !p.Relayed || told != 1 {
		t.Errorf("relayed %v, told %d times", p.Relayed, told)
	}
}

// An agent that says that it sent the pipes is believed if they are here.
func TestDescriptorsThatGotLostAreAsPipesThatCannotBePassed(t *testing.T) {
	var answered atomic.Value
	d := listen(t, func(c *net.UnixConn) {
		io.WriteString(c, `{"v":1,"started":{"pid":7,"way":"descriptors"}}`+"\n")
		line, _ := bufio.NewReader(c).ReadString('\n')
		answered.Store(line)
		io.WriteString(c, frame(1, "hi")+frame(2, "")+frame(5, `{"exit":{"code":0}}`))
	})
	p, err := d.Start(t.Context(), agent.StartRequest{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if got, err := io.ReadAll(p.Stdout); string(got) != "hi" || err != nil || !p.Relayed {
		t.Errorf("%q, %v, relayed %v", got, err, p.Relayed)
	}
	if got := answered.Load(); got != `{"way":"relay"}`+"\n" {
		t.Errorf("it was answered %q", got)
	}
}

// startFake starts a process of an agent that sends report in the same
// message as its reply, and then hangs up.
func startFake(t *testing.T, report string) *agent.Process {
	d := listen(t, func(c *net.UnixConn) {
		var in, out [2]int
		unix.Pipe2(in[:], unix.O_CLOEXEC)
		unix.Pipe2(out[:], unix.O_CLOEXEC)
		line := []byte(`{"v":1,"started":{"pid":7}}` + "\n" + report)
		n, _, _ := c.WriteMsgUnix(line, unix.UnixRights(in[1], out[0]), nil)
		c.Write(line[n:])
		for _, fd := range append(in[:], out[:]...) {
			unix.Close(fd)
		}
	})
	p, err := d.Start(t.Context(), agent.StartRequest{Key: "k"})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestASilentAgentCostsTheDeadlineOnly(t *testing.T) {
	d := listen(t, func(c *net.UnixConn) { io.Copy(io.Discard, c) })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := d.Start(ctx, agent.StartRequest{Key: "k"}); agent.CodeOf(err) != agent.CodeTimeout {
		t.Errorf("start: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if err := d.Check(ctx); agent.CodeOf(err) != agent.CodeCanceled {
		t.Errorf("check: %v", err)
	}
	if err := (agent.Dialer{Socket: "/no/such"}).Check(t.Context()); agent.CodeOf(err) != agent.CodeUnreachable {
		t.Errorf("nobody there: %v", err)
	}
	if err := (agent.Dialer{Socket: strings.Repeat("x", 200)}).Check(t.Context()); agent.CodeOf(err) != agent.CodeUnreachable {
		t.Errorf("path too long: %v", err)
	}
}

// listen answers each connection's first line with answer.
func listen(t *testing.T, answer func(*net.UnixConn)) agent.Dialer {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.AcceptUnix()
			if err != nil {
				return
			}
			c.Read(make([]byte, 64<<10))
			answer(c)
			c.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })
	return agent.Dialer{Socket: path}
}

func openDescriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}
