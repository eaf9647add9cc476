package supervisor

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

func TestPrintableTextIsOneHarmlessLine(t *testing.T) { // F1
	tests := map[string][2]string{
		"plain":                         {"hello\tworld ü 漢 🚀", "hello\tworld ü 漢 🚀"},
		"a colour":                      {"\x1b[1;31mred\x1b[0m", "red"},
		"a window title":                {"\x1b]0;owned\x07text", "text"},
		"a window title ended by ST":    {"\x1b]0;owned\x1b\\text", "text"},
		"an escape that is no sequence": {"\x1bc\x1b[", `\x1bc\x1b[`},
		"a sequence that does not end":  {"\x1b[12", `\x1b[12`},
		"a title that does not end":     {"\x1b]0;x", `\x1b]0;x`},
		"bell, zero and delete":         {"\a\x00\x7f", `\x07\x00\x7f`},
		"a carriage return within":      {"10%\r20%", `10%\x0d20%`},
		"bytes that are not UTF-8":      {"\xc7\xd1 \xe2\x82", `\xc7\xd1 \xe2\x82`},
		"C1 controls":                   {"\u009b31m", `\u{9b}31m`},
		"direction marks":               {"\u202egnp.exe", `\u{202e}gnp.exe`},
		"line separators":               {"a\u2028b", `a\u{2028}b`},
		"the replacement character":     {"\ufffd", "\ufffd"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := printable([]byte(tt[0])); got != tt[1] {
				t.Errorf("got %q, want %q", got, tt[1])
			}
		})
	}
}

func FuzzPrintable(f *testing.F) {
	for _, seed := range []string{"a", "\x1b[31mx", "\x1b]0;t\x07", "\xff\x1b", "\u202e\u009b"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got := printable(line)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\x1b\x00\a\u202e\u2028") {
			t.Errorf("%q became %q", line, got)
		}
		if len(got) > 8*len(line) {
			t.Errorf("%d bytes became %d", len(line), len(got))
		}
	})
}

func TestTheTailFitsItsBound(t *testing.T) {
	log := NewLog(&strings.Builder{})
	defer log.Close(time.Minute)
	s := newStderr(log, "key")
	line := strings.Repeat("漢", 5000) + "\n"
	for range 50 {
		s.write([]byte(line), time.Unix(1, 0))
	}
	total := 0
	for _, text := range s.tail {
		if !utf8.ValidString(text) {
			t.Errorf("cut within a character: %q", text)
		}
		total += len(text)
	}
	if len(s.tail) != tailLines || total > 8<<10 {
		t.Errorf("%d lines, %d bytes", len(s.tail), total)
	}
}

func TestTheBucketFillsWithTime(t *testing.T) {
	b := newBucket(10, 20)
	now := time.Unix(100, 0)
	taken := 0
	for b.take(1, now) {
		taken++
	}
	if taken != 20 {
		t.Errorf("burst of %d, want 20", taken)
	}
	if now = now.Add(500 * time.Millisecond); !b.take(5, now) || b.take(1, now) {
		t.Error("half a second is not five tokens")
	}
	if now = now.Add(time.Hour); !b.take(20, now) || b.take(1, now) {
		t.Error("an hour is not the burst")
	}
}

func TestALogThatDoesNotKeepUpDropsAndSaysSo(t *testing.T) {
	w := &gate{open: make(chan struct{})}
	log := NewLog(w)
	for range 3 * logQueue {
		log.put("x\n")
	}
	close(w.open)
	// What is put after the jam carries the confession.
	for !strings.Contains(w.text(), "lines dropped") {
		log.put("y\n")
	}
	log.Close(time.Minute)
}

// gate is a log file whose first write waits.
type gate struct {
	open chan struct{}
	b    lockedBuilder
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.b.Write(p)
}

func (g *gate) text() string { return g.b.String() }

func TestTheLadderNeverGivesMoreTimeThanTheFirstReason(t *testing.T) { // W18.7
	now := time.Now()
	second := time.Second
	tests := map[string]struct {
		begins     []grace
		term, kill time.Duration
	}{
		"one reason":                {[]grace{{2 * second, 3 * second}}, 2 * second, 5 * second},
		"a second that is shorter":  {[]grace{{60 * second, 60 * second}, {second, 3 * second}}, second, 4 * second},
		"a second that is longer":   {[]grace{{second, 3 * second}, {60 * second, 60 * second}}, second, 4 * second},
		"a mix keeps each earliest": {[]grace{{10 * second, second}, {second, 60 * second}}, second, 11 * second},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var l ladder
			defer l.end()
			if l.timer() != nil {
				t.Error("it has a timer before it begins")
			}
			for _, g := range tt.begins {
				l.begin(now, g)
			}
			if got := l.term.Sub(now); got != tt.term {
				t.Errorf("TERM after %v, want %v", got, tt.term)
			}
			if got := l.kill.Sub(now); got != tt.kill {
				t.Errorf("KILL after %v, want %v", got, tt.kill)
			}
			for i, want := range []unix.Signal{unix.SIGTERM, unix.SIGKILL, unix.SIGKILL} {
				if got := l.next(now); got != want {
					t.Errorf("step %d is %v, want %v", i, got, want)
				}
			}
		})
	}
}

func TestTheFamilyOfAProcessIsReadWhateverItsName(t *testing.T) {
	const rest = " S 7 1 1 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 4711 0 0"
	for name, tt := range map[string]struct {
		stat string
		ok   bool
	}{
		"an ordinary name":       {"42 (node)" + rest, true},
		"a name that imitates":   {"42 (a) Z 9 (b)" + rest, true},
		"a name with a newline":  {"42 (a\nb)" + rest, true},
		"too few fields":         {"42 (a) S 7 1", false},
		"nothing":                {"", false},
		"a parent that is none":  {"42 (a)" + strings.Replace(rest, "7", "x", 1), false},
		"a start that is no num": {"42 (a)" + strings.Replace(rest, "4711", "x", 1), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := parseStat(42, []byte(tt.stat))
			if ok != tt.ok {
				t.Fatalf("ok %v", ok)
			}
			if want := (procStat{procID{42, 4711}, 7, false}); ok && got != want {
				t.Errorf("got %+v", got)
			}
		})
	}
}
