package workload_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
	"github.com/fairlead-dev/fairlead/runtime/transport/stdio"
	"github.com/fairlead-dev/fairlead/test/conformance/record"
	"github.com/fairlead-dev/fairlead/test/conformance/wireschema"
	"github.com/fairlead-dev/fairlead/test/conformance/workload"
	"github.com/fairlead-dev/fairlead/test/testkit"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// way is how a client reaches the workload; open returns the target, and what
// ends the server's side.
type way struct {
	name string
	// only, when set, is the one revision that the way knows.
	only string
	open func(t *testing.T, w *workload.Workload, log *record.Log) (client.Target, func())
}

var ways = []way{
	{"stdio", "", overStdio},
	{"http", "", overHTTP},
	{"http+sse", mcp.Revision20241105, overOldHTTP},
	{"memory", "", inMemory},
}

// P35: the server behaves the same over stdio and HTTP, in every revision. What
// it sends there is judged by the protocol's schemas, which the conformance
// suite alone cannot do for the two oldest.
func TestSameAnswersOverEveryTransport(t *testing.T) {
	schemas, err := wireschema.Find(testkit.Root(t))
	if err != nil {
		t.Fatal(err)
	}
	if schemas == "" {
		t.Logf("schemas: NOT RUN: no folder mcp-schema beside the repository, and %s is not set", wireschema.FolderVariable)
	}
	for _, revision := range mcp.Revisions() {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			var first []string
			for _, way := range ways {
				if way.only != "" && way.only != revision {
					continue
				}
				recording := filepath.Join(t.TempDir(), "messages.jsonl")
				got := transcriptOver(t, way, revision, recording)
				if first == nil {
					first = got
				}
				if diff := cmp.Diff(first, got); diff != "" {
					t.Errorf("answers over %s (-%s +%s)\n%s", way.name, ways[0].name, way.name, diff)
				}
				if schemas != "" && way.name != "memory" {
					judge(t, schemas, recording)
				}
			}
			if len(first) < 50 {
				t.Errorf("only %d answers were compared", len(first))
			}
		})
	}
}

func transcriptOver(t *testing.T, way way, revision, recording string) []string {
	t.Helper()
	w, err := workload.New(slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	log, err := record.Create(recording)
	if err != nil {
		t.Fatal(err)
	}
	target, end := way.open(t, w, log)
	got := transcript(t, target, revision)
	if err := w.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	end()
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	return got
}

func judge(t *testing.T, schemas, recording string) {
	t.Helper()
	lines, err := record.Read(recording)
	if err != nil {
		t.Fatal(err)
	}
	j, err := wireschema.New(schemas)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range j.Check(lines) {
		t.Errorf("a %s of %s (%s) %s\n%s", v.What, v.Revision, v.Method, v.Reason, v.Message)
	}
	if len(j.Counts()) == 0 {
		t.Error("no message was judged")
	}
}

func overHTTP(t *testing.T, w *workload.Workload, log *record.Log) (client.Target, func()) {
	s := httptest.NewServer(record.Handler(w.Front(nil), log))
	return client.HTTP{URL: s.URL + "/mcp", Client: s.Client()}, s.Close
}

// overOldHTTP refuses what clients of newer revisions do first.
func overOldHTTP(t *testing.T, w *workload.Workload, log *record.Log) (client.Target, func()) {
	front := w.Front(mcp.Offer{mcp.Revision20241105})
	s := httptest.NewServer(record.Handler(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Query().Get("sessionId") == "" {
			http.Error(rw, "no", http.StatusMethodNotAllowed)
			return
		}
		front.ServeHTTP(rw, r)
	}), log))
	return client.HTTP{URL: s.URL + "/mcp", Client: s.Client()}, s.Close
}

func overStdio(t *testing.T, w *workload.Workload, log *record.Log) (client.Target, func()) {
	in, clientOut := io.Pipe()
	clientIn, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := stdio.Serve(context.WithoutCancel(t.Context()), w.Server, stdio.Options{}, record.Reader(in, record.Theirs, log), record.Writer(out, record.Ours, log))
		ended <- errors.Join(err, out.Close())
	}()
	return &client.Pipes{In: clientOut, Out: clientIn}, func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func inMemory(_ *testing.T, w *workload.Workload, _ *record.Log) (client.Target, func()) {
	return client.Memory(func() peer.Link { return memory.Connect(w.Server, memory.Options{}) }), func() {}
}
