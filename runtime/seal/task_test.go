package seal_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// W36.19, B0.6: a task id opens for its principal, under its purpose, on its
// server, and for nobody else.
func TestTaskIDs(t *testing.T) {
	k := &seal.Keyring{Server: "s"}
	if err := k.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	want := seal.Task{Pod: "pod-1", Random: seal.NewRandom()}
	id, err := k.SealTask(want, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.OpenTask(id, "alice"); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	session, err := k.SealSession(seal.Session{Random: want.Random}, "alice")
	if err != nil {
		t.Fatal(err)
	}
	short, err := k.Seal(seal.PurposeTask, []byte{1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ id, principal string }{
		"another principal": {id, "bob"},
		"nobody":            {id, ""},
		"a session's id":    {session, "alice"},
		"a cut one":         {short, "alice"},
		"a changed one":     {id + "A", "alice"},
	} {
		if got, err := k.OpenTask(tt.id, tt.principal); err != seal.ErrUnknown || got != (seal.Task{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
