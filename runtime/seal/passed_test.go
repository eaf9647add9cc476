package seal_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

// W36.19, B0.6: an id that stands for another opens for its principal alone, and
// is no id of a task of our own.
func TestPassedTaskIDs(t *testing.T) {
	k := &seal.Keyring{Server: "s"}
	if err := k.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	want := seal.Passed{Pod: "pod-1", ID: "their \u00e9 id"}
	id, err := k.SealPassed(want, "alice")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.OpenPassed(id, "alice"); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := k.OpenTask(id, "alice"); err != seal.ErrUnknown {
		t.Errorf("it is taken for one of ours: %+v, %v", got, err)
	}
	own, err := k.SealTask(seal.Task{Pod: "pod-1", Random: seal.NewRandom()}, "alice")
	if err != nil {
		t.Fatal(err)
	}
	short, err := k.Seal(seal.PurposeTask, []byte{2, 0, 9})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ id, principal string }{
		"another principal": {id, "bob"},
		"nobody":            {id, ""},
		"one of our own":    {own, "alice"},
		"a cut one":         {short, "alice"},
		"a changed one":     {id + "A", "alice"},
		"their own":         {want.ID, "alice"},
	} {
		if got, err := k.OpenPassed(tt.id, tt.principal); err != seal.ErrUnknown || got != (seal.Passed{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := k.SealPassed(seal.Passed{ID: strings.Repeat("x", seal.MaxToken)}, "alice"); !errors.Is(err, seal.ErrTooLong) {
		t.Errorf("too long: %v", err)
	}
}
