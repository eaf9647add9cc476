package seal_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/seal"
)

func key(id string, fill byte) seal.Key {
	return seal.Key{ID: id, Secret: bytes.Repeat([]byte{fill}, seal.MinSecret)}
}

func ring(t testing.TB, server string, keys ...seal.Key) *seal.Keyring {
	t.Helper()
	k := &seal.Keyring{Server: server}
	if err := k.Load(keys, keys[0].ID); err != nil {
		t.Fatal(err)
	}
	return k
}

func session() seal.Session {
	return seal.Session{Kind: seal.KindStateful, Revision: "2025-11-25", Pod: "0b6f8c1e-1111-2222-3333-444455556666", Epoch: 1798765432, Random: seal.NewRandom()}
}

func TestSessionRoundTrip(t *testing.T) {
	k := ring(t, "uid", key("a", 1))
	want := session()
	token, err := k.SealSession(want, "iss|sub")
	if err != nil {
		t.Fatal(err)
	}
	got, err := k.OpenSession(token, "iss|sub")
	if err != nil || got != want {
		t.Fatalf("got %+v, %v", got, err)
	}
	if !strings.HasPrefix(token, "a.") {
		t.Errorf("the key id is not readable: %s", token)
	}
	// W10.2, W10.3, P10
	for i := range len(token) {
		if token[i] < 0x21 || token[i] > 0x7e {
			t.Errorf("byte %d is not visible ASCII", i)
		}
	}
	if len(token) > seal.MaxToken {
		t.Errorf("%d characters", len(token))
	}
	if again, _ := k.SealSession(want, "iss|sub"); again == token {
		t.Error("two seals of the same session are equal")
	}
}

// B0.6: whatever is wrong, a handle is unknown.
func TestForeignHandlesAreUnknown(t *testing.T) {
	k := ring(t, "uid", key("a", 1), key("b", 2))
	s := session()
	token, _ := k.SealSession(s, "alice")
	stream, _ := k.SealStream(seal.Stream{Session: s.Random, Pod: s.Pod, Request: "7", Random: seal.NewRandom()})
	flipped := []byte(token)
	flipped[len(flipped)/2] ^= 1
	retired := ring(t, "uid", key("b", 2))
	tests := map[string]struct {
		k                *seal.Keyring
		token, principal string
	}{
		"another principal":       {k, token, "bob"},
		"no principal":            {k, token, ""},
		"another server":          {ring(t, "other", key("a", 1)), token, "alice"},
		"another secret":          {ring(t, "uid", key("a", 9)), token, "alice"},
		"a key that is gone":      {retired, token, "alice"},
		"another key id":          {k, "b" + token[1:], "alice"},
		"a flipped bit":           {k, string(flipped), "alice"},
		"cut short":               {k, token[:len(token)-1], "alice"},
		"a stream handle":         {k, stream, "alice"},
		"empty":                   {k, "", "alice"},
		"only a key id":           {k, "a.", "alice"},
		"no dot":                  {k, "abcdef", "alice"},
		"a trailing line end":     {k, token + "\n", "alice"},
		"padding":                 {k, token + "=", "alice"},
		"longer than any handle":  {k, "a." + strings.Repeat("A", seal.MaxToken), "alice"},
		"a ring without any keys": {&seal.Keyring{Server: "uid"}, token, "alice"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got, err := tt.k.OpenSession(tt.token, tt.principal); err != seal.ErrUnknown || got != (seal.Session{}) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestStreamHandles(t *testing.T) {
	k := ring(t, "uid", key("a", 1))
	mine := seal.NewRandom()
	for name, want := range map[string]seal.Stream{
		"standalone":      {Session: mine, Pod: "p", Standalone: true, Random: seal.NewRandom()},
		"of a number id":  {Session: mine, Pod: "p", Request: "7", Random: seal.NewRandom()},
		"of a string id":  {Session: mine, Pod: "p", Request: `"7"`, Random: seal.NewRandom()},
		"longest id kept": {Session: mine, Pod: "p", Request: `"` + strings.Repeat("x", seal.MaxRequestID-2) + `"`, Random: seal.NewRandom()},
	} {
		t.Run(name, func(t *testing.T) {
			token, err := k.SealStream(want)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := k.OpenStream(token, mine); err != nil || got != want {
				t.Errorf("got %+v, %v", got, err)
			}
			if _, err := k.OpenStream(token, seal.NewRandom()); err != seal.ErrUnknown {
				t.Errorf("another session opened it: %v", err)
			}
		})
	}
	// P2: longer ids cannot be resumed, but the stream has a handle.
	long := seal.Stream{Session: mine, Request: `"` + strings.Repeat("x", 100) + `"`}
	token, err := k.SealStream(long)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := k.OpenStream(token, mine); err != nil || got.Request != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Two keys live side by side, a bad load leaves the old ring.
func TestRotation(t *testing.T) {
	k := ring(t, "uid", key("old", 1))
	token, _ := k.SealSession(session(), "a")
	if err := k.Load([]seal.Key{key("old", 1), key("new", 2)}, "new"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.OpenSession(token, "a"); err != nil {
		t.Errorf("the old key no longer opens: %v", err)
	}
	fresh, _ := k.SealSession(session(), "a")
	if !strings.HasPrefix(fresh, "new.") {
		t.Errorf("sealed with %s", fresh[:4])
	}
	for name, load := range map[string]func() error{
		"no keys":         func() error { return k.Load(nil, "") },
		"unknown sealer":  func() error { return k.Load([]seal.Key{key("old", 1)}, "new") },
		"a short secret":  func() error { return k.Load([]seal.Key{{ID: "x", Secret: []byte("short")}}, "x") },
		"a bad id":        func() error { return k.Load([]seal.Key{key("a.b", 1)}, "a.b") },
		"the same id two": func() error { return k.Load([]seal.Key{key("a", 1), key("a", 2)}, "a") },
	} {
		if load() == nil {
			t.Errorf("%s was loaded", name)
		}
	}
	if _, err := k.OpenSession(fresh, "a"); err != nil {
		t.Errorf("a failed load changed the ring: %v", err)
	}
	var unknown []string
	other := &seal.Keyring{Server: "uid", Unknown: func(id string) { unknown = append(unknown, id) }}
	if err := other.Load([]seal.Key{key("old", 1)}, "old"); err != nil {
		t.Fatal(err)
	}
	for _, handle := range []string{fresh, token, "no dot", "\n.x", ""} {
		_, _ = other.OpenSession(handle, "a")
	}
	if len(unknown) != 1 || unknown[0] != "new" {
		t.Errorf("told %q", unknown)
	}
	if _, err := (&seal.Keyring{}).Seal(seal.PurposeSession, nil); !errors.Is(err, seal.ErrNoKey) {
		t.Errorf("sealed without a key: %v", err)
	}
	if _, err := k.Seal(seal.PurposeSession, make([]byte, seal.MaxToken)); !errors.Is(err, seal.ErrTooLong) {
		t.Errorf("sealed something too long: %v", err)
	}
}

func TestEphemeralKeysDiffer(t *testing.T) {
	var a, b seal.Keyring
	if a.LoadEphemeral() != nil || b.LoadEphemeral() != nil {
		t.Fatal("no key")
	}
	token, _ := a.SealSession(session(), "")
	if _, err := b.OpenSession(token, ""); err != seal.ErrUnknown {
		t.Errorf("got %v", err)
	}
}

// FuzzOpen: nothing opens but what was sealed, and nothing panics.
func FuzzOpen(f *testing.F) {
	k := ring(f, "uid", key("a", 1))
	s := session()
	s.Random = seal.Random{1, 2, 3} // the same in every process that fuzzes
	token, _ := k.SealSession(s, "p")
	f.Add(token)
	f.Add("a.AAAA")
	f.Fuzz(func(t *testing.T, in string) {
		if got, err := k.OpenSession(in, "p"); err == nil && got != s {
			t.Fatalf("%q opened as %+v", in, got)
		}
		if _, err := k.OpenStream(in, s.Random); err == nil {
			t.Fatalf("%q opened as a stream", in)
		}
	})
}

func BenchmarkOpenSession(b *testing.B) {
	k := ring(b, "uid", key("a", 1))
	token, _ := k.SealSession(session(), "p")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := k.OpenSession(token, "p"); err != nil {
			b.Fatal(err)
		}
	}
}

// Session ids that were opened before are remembered, for their principal and
// as long as their key is there.
func TestWhatIsRememberedOfSessions(t *testing.T) {
	k := ring(t, "uid", key("a", 1))
	want := session()
	token, _ := k.SealSession(want, "alice")
	for range 3 {
		if got, err := k.OpenSession(token, "alice"); err != nil || got != want {
			t.Fatalf("got %+v, %v", got, err)
		}
		if _, err := k.OpenSession(token, "bob"); err != seal.ErrUnknown {
			t.Fatalf("another principal: %v", err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _ = k.OpenSession(token, "alice") }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	// More than are remembered push it out, and it opens all the same.
	for range 5000 {
		other, _ := k.SealSession(session(), "alice")
		if _, err := k.OpenSession(other, "alice"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := k.OpenSession(token, "alice"); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := k.Load([]seal.Key{key("b", 2)}, "b"); err != nil {
		t.Fatal(err)
	}
	if _, err := k.OpenSession(token, "alice"); err != seal.ErrUnknown {
		t.Errorf("its key has gone: %v", err)
	}
}

// What has ended is forgotten, and what nobody ends takes no more than its
// bound; an id that comes again opens as before.
func TestEndedSessionsAreForgotten(t *testing.T) {
	k := ring(t, "uid", key("a", 1))
	open := func() seal.Session {
		s := session()
		for range 2 {
			token, _ := k.SealSession(s, "alice") // another spelling of the same
			if got, err := k.OpenSession(token, "alice"); err != nil || got != s {
				t.Fatalf("got %+v, %v", got, err)
			}
		}
		return s
	}
	kept, gone := open(), open()
	if n := k.Remembered(); n != 2 {
		t.Errorf("%d remembered, want 2", n)
	}
	k.ForgetSession(gone.Random)
	k.ForgetSession(gone.Random)
	if n := k.Remembered(); n != 1 {
		t.Errorf("%d remembered, want 1", n)
	}
	for range 5000 {
		open()
	}
	const bound = 2048
	if n := k.Remembered(); n > bound {
		t.Errorf("%d remembered, want %d at most", n, bound)
	}
	k.ForgetSession(kept.Random) // pushed out long ago
	token, _ := k.SealSession(kept, "alice")
	if got, err := k.OpenSession(token, "alice"); err != nil || got != kept {
		t.Errorf("got %+v, %v", got, err)
	}
	if (&seal.Keyring{}).Remembered() != 0 {
		t.Error("an empty ring remembers something")
	}
}

// A session that was used long ago is forgotten as well.
func TestOldSessionsAreForgotten(t *testing.T) {
	k := ring(t, "uid", key("a", 1))
	all := make([]seal.Session, 1500)
	for i := range all {
		all[i] = session()
		token, _ := k.SealSession(all[i], "alice")
		if _, err := k.OpenSession(token, "alice"); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range all {
		k.ForgetSession(s.Random)
	}
	if n := k.Remembered(); n != 0 {
		t.Errorf("%d remembered", n)
	}
}
