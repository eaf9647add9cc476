package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTurnsDocsIntoProse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "reasons.go")
	source := `package x

// Reasons for
// testing (O7).
const (
	// ReasonGood (Ready True): all is
	// well (O1, R2). See ReasonBad.
	//
	// True: ReasonGood,
	// ConditionReady.
	ReasonGood = "Good"
	// ReasonBad: nothing is well | really.
	ReasonBad = "Bad"
)
`
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := read(file, "Reason")
	if err != nil {
		t.Fatal(err)
	}
	want := []group{{doc: "Reasons for testing.", constants: []constant{
		{value: "Good", where: "Ready True", doc: "All is well. See Bad.\n\n- **True**: Good, Ready."},
		{value: "Bad", doc: "Nothing is well | really."},
	}}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(group{}, constant{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := cell(got[0].constants[1].doc); got != `Nothing is well \| really.` {
		t.Errorf("a cell would be %q", got)
	}
}

func TestReadRefusesWhatIsNoConstantOfTheKind(t *testing.T) {
	for name, source := range map[string]string{
		"another prefix":  "package x\nconst (\n\tOther = \"Other\"\n)\n",
		"not a literal":   "package x\nconst (\n\tReasonA = \"A\" + \"B\"\n)\n",
		"not a Go file":   "reasons\n",
		"a number":        "package x\nconst (\n\tReasonA = 1\n)\n",
		"no file at all?": "",
	} {
		file := filepath.Join(t.TempDir(), "reasons.go")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := read(file, "Reason"); err == nil {
			t.Errorf("%s: read %+v", name, got)
		}
	}
}
