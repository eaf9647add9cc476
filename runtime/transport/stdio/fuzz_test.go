package stdio_test

import (
	"bytes"
	"context"
	"io"
	"sync"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/stream"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
)

// written collects what is written to it.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(b)
}

// slices reads in pieces of n bytes.
type slices struct {
	b []byte
	n int
}

func (s *slices) Read(b []byte) (int, error) {
	if len(s.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, s.b[:min(s.n, len(s.b))])
	s.b = s.b[n:]
	return n, nil
}

// FuzzServe: whatever a client says, in whatever pieces, every line of ours is
// a message, no request is answered twice, and nothing is held in the end.
func FuzzServe(f *testing.F) {
	init := mcptest.Initialize(0, "2025-03-26", `{"roots":{}}`) + "\n"
	for _, seed := range []string{
		init + call(1, `{"name":"a"}`) + "\n" + `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		init + `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]`,
		init + init + "\r\n{}\n[]\n[1]\nnull\n\"\"",
		call(`"m"`, mcptest.Modern(`"name":"a"`)) + "\n" + `{"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2031-01-01"}}}`,
		"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\x00\xff",
		`{"jsonrpc":"2.0","id":"x","result":{}}` + "\n" + `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`,
	} {
		f.Add([]byte(seed), uint8(7))
	}
	f.Fuzz(func(t *testing.T, input []byte, piece uint8) {
		budget, out := &stream.Budget{}, &written{}
		server := &mcptest.Stub{OnServe: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome {
			_ = x.Notify([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`))
			return jsonrpc.Result([]byte(`{}`))
		}}
		err := stdio.Serve(t.Context(), server, stdio.Options{MaxMessageBytes: 1 << 10, Budget: budget}, &slices{input, int(piece) + 1}, out)
		if err != nil {
			t.Fatal(err)
		}
		asked := map[string]int{}
		for line := range bytes.Lines(input) {
			count(line, asked)
		}
		out.mu.Lock()
		defer out.mu.Unlock()
		for line := range bytes.Lines(out.b.Bytes()) {
			m, err := jsonrpc.Parse(bytes.TrimSpace(line), strictjson.FromWorkload)
			if err != nil {
				t.Fatalf("%v: %q", err, line)
			}
			if id := m.ID.String(); m.Kind == jsonrpc.KindResponse && m.Err == nil {
				if asked[id]--; asked[id] < 0 {
					t.Fatalf("an answer that nobody asked for: %q", line)
				}
			}
		}
		if used := budget.Used(); used != 0 {
			t.Errorf("%d bytes are held", used)
		}
	})
}

// count counts the requests of a line by id.
func count(line []byte, asked map[string]int) {
	line = bytes.Trim(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("\xef\xbb\xbf")), " \t\r\n")
	if msgs, err := jsonrpc.ParseBatch(line, strictjson.FromClient); err == nil {
		for _, m := range msgs {
			asked[m.ID.String()]++
		}
		return
	}
	if m, err := jsonrpc.Parse(line, strictjson.FromClient); err == nil && m.Kind == jsonrpc.KindRequest {
		asked[m.ID.String()]++
	}
}
