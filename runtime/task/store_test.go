package task_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/task"
	"github.com/fairlead-dev/fairlead/runtime/task/tasktest"
)

func TestMemoryIsAStore(t *testing.T) {
	tasktest.Run(t, func(*testing.T) task.Store { return &task.Memory{} })
}

// The suite must also hold for a store that keeps bytes, as those outside the
// process do.
func TestTheCodecKeepsWhatAStoreNeeds(t *testing.T) {
	tasktest.Run(t, func(*testing.T) task.Store { return &encoded{} })
}

func TestMemoryHasABoundInBytes(t *testing.T) {
	m := &task.Memory{MaxBytes: 4096}
	small := task.Record{Key: "a", Owner: "o", Status: task.Working}
	if err := m.Create(t.Context(), small, task.Bounds{}); err != nil {
		t.Fatal(err)
	}
	large := task.Record{Key: "b", Owner: "o", Status: task.Working, Message: string(make([]byte, 4096))}
	if err := m.Create(t.Context(), large, task.Bounds{}); !errors.Is(err, task.ErrFull) {
		t.Errorf("got %v", err)
	}
	small.Version, small.Result = 1, make([]byte, 4096)
	if err := m.Update(t.Context(), small); !errors.Is(err, task.ErrFull) {
		t.Errorf("got %v", err)
	}
	small.Result = make([]byte, 2048)
	if err := m.Update(t.Context(), small); err != nil {
		t.Error(err)
	}
	large.Message = string(make([]byte, 2048))
	if err := m.Create(t.Context(), large, task.Bounds{}); !errors.Is(err, task.ErrFull) {
		t.Errorf("got %v", err)
	}
	if err := m.Delete(t.Context(), "a", 2); err != nil {
		t.Fatal(err)
	}
	if err := m.Create(t.Context(), large, task.Bounds{}); err != nil {
		t.Errorf("what was deleted still counts: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	r := task.Record{
		Key: "k", Status: task.InputRequired, Created: time.Unix(1, 2), TTL: time.Hour,
		Inputs: []task.Input{{Key: "a", Params: []byte(`{}`)}, {Key: "b", Err: &jsonrpc.Error{Code: -1, Data: []byte(`[]`)}}},
		Result: []byte(`{}`),
	}
	f.Add(r.Encode())
	f.Add([]byte{1})
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := task.Decode(data)
		if err != nil {
			return
		}
		again, err := task.Decode(got.Encode())
		if err != nil {
			t.Fatalf("what was decoded cannot be decoded again: %v", err)
		}
		if !bytes.Equal(again.Encode(), got.Encode()) {
			t.Error("it changes")
		}
	})
}
