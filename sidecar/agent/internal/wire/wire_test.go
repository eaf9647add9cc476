package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestLineIsReadStrictly(t *testing.T) {
	tests := map[string]struct {
		line string
		want string // part of the error, "" for none
	}{
		"a ping":                          {`{"v":1,"ping":{}}`, ""},
		"a full start":                    {`{"v":1,"start":{"key":"k-1_A","env":{"A":"b","a":""},"cwd":"/x","argv":["a","b c"],"stdinMillis":0,"termMillis":600000}}`, ""},
		"white space is JSON's":           {" { \"v\" : 1 , \"ping\" : { } } ", ""},
		"another version, else unknown":   {`{"v":2,"begin":{}}`, "other control protocol version: 2"},
		"a version that is no integer":    {`{"v":1.0,"ping":{}}`, "v: not an integer"},
		"a version as a string":           {`{"v":"1","ping":{}}`, "v: not an integer"},
		"no version":                      {`{"ping":{}}`, "member v is missing"},
		"neither":                         {`{"v":1}`, "0 of the members"},
		"both":                            {`{"v":1,"ping":{},"start":{"key":"a"}}`, "2 of the members"},
		"an unknown member":               {`{"v":1,"ping":{},"x":1}`, `unknown member "x"`},
		"another letter case":             {`{"v":1,"Ping":{}}`, `unknown member "Ping"`},
		"a duplicate":                     {`{"v":1,"ping":{},"ping":{}}`, `member "ping" twice`},
		"a duplicate by escape":           {`{"v":1,"start":{"key":"a","k\u0065y":"b"}}`, `member "key" twice`},
		"a duplicate variable":            {`{"v":1,"start":{"key":"a","env":{"A":"1","A":"2"}}}`, `member "A" twice`},
		"something in ping":               {`{"v":1,"ping":{"a":1}}`, `unknown member "a"`},
		"null for an object":              {`{"v":1,"ping":null}`, "not a JSON object"},
		"null for a string":               {`{"v":1,"start":{"key":null}}`, "key: not a string"},
		"null in argv":                    {`{"v":1,"start":{"key":"a","argv":["x",null]}}`, "argv: [1]: not a string"},
		"a number in env":                 {`{"v":1,"start":{"key":"a","env":{"A":1}}}`, `env: "A": not a string`},
		"a second value":                  {`{"v":1,"ping":{}}{}`, "something follows"},
		"an array":                        {`[]`, "not a JSON object"},
		"an empty line":                   {``, "not a JSON object"},
		"an open object":                  {`{"v":1,"ping":{}`, "bad JSON"},
		"bytes that are not UTF-8":        {"{\"v\":1,\"start\":{\"key\":\"\xff\"}}", "not UTF-8"},
		"no key":                          {`{"v":1,"start":{}}`, "key must have"},
		"a key with a slash":              {`{"v":1,"start":{"key":"../x"}}`, "outside [A-Za-z0-9_-]"},
		"a key that is too long":          {`{"v":1,"start":{"key":"` + strings.Repeat("a", 65) + `"}}`, "key must have"},
		"a variable with an equals sign":  {`{"v":1,"start":{"key":"a","env":{"A=B":"c"}}}`, `env name "A=B"`},
		"a variable without a name":       {`{"v":1,"start":{"key":"a","env":{"":"c"}}}`, `env name ""`},
		"a zero byte in a value":          {`{"v":1,"start":{"key":"a","env":{"A":"\u0000"}}}`, "zero byte"},
		"a zero byte in cwd":              {`{"v":1,"start":{"key":"a","cwd":"/\u0000"}}`, "zero byte"},
		"a zero byte in argv":             {`{"v":1,"start":{"key":"a","argv":["a\u0000"]}}`, "zero byte"},
		"an argv without a command":       {`{"v":1,"start":{"key":"a","argv":[""]}}`, "argv[0] is empty"},
		"a negative clock":                {`{"v":1,"start":{"key":"a","termMillis":-1}}`, "outside 0 to"},
		"a clock beyond ten minutes":      {`{"v":1,"start":{"key":"a","stdinMillis":600001}}`, "outside 0 to"},
		"a clock as a fraction":           {`{"v":1,"start":{"key":"a","stdinMillis":1.5}}`, "stdinMillis: not an integer"},
		"a clock beyond 64 bits":          {`{"v":1,"start":{"key":"a","stdinMillis":99999999999999999999}}`, "stdinMillis: not an integer"},
		"nesting that no recursion reads": {`{"v":1,"ping":` + strings.Repeat("[", 100000), "bad JSON"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := ParseRequest([]byte(tt.line))
			checkError(t, err, tt.want)
			if got, want := errors.Is(err, ErrVersion), strings.HasPrefix(tt.want, "other control"); got != want {
				t.Errorf("is ErrVersion: %v, want %v", got, want)
			}
		})
	}
}

func TestLaterLinesAreReadStrictly(t *testing.T) {
	command := func(b []byte) error { _, err := ParseCommand(b); return err }
	report := func(b []byte) error { _, err := ParseReport(b); return err }
	reply := func(b []byte) error { _, err := ParseReply(b); return err }
	tests := map[string]struct {
		parse func([]byte) error
		line  string
		want  string
	}{
		"a signal":                  {command, `{"signal":"TERM"}`, ""},
		"a stop":                    {command, `{"stop":{}}`, ""},
		"an empty signal":           {command, `{"signal":""}`, "signal is empty"},
		"a signal number":           {command, `{"signal":9}`, "signal: not a string"},
		"signal and stop":           {command, `{"signal":"TERM","stop":{}}`, "2 of the members"},
		"an empty command":          {command, `{}`, "0 of the members"},
		"a choice":                  {command, `{"way":"relay"}`, ""},
		"a choice that is none":     {command, `{"way":"pigeon"}`, `"pigeon" is no way`},
		"a choice and a stop":       {command, `{"way":"relay","stop":{}}`, "2 of the members"},
		"an exit":                   {report, `{"exit":{"code":-1,"signal":"KILL","stderrTail":["a"]}}`, ""},
		"stopping":                  {report, `{"stopping":{}}`, ""},
		"an exit without a code":    {report, `{"exit":{}}`, "exit: code: missing"},
		"an exit code out of range": {report, `{"exit":{"code":4294967296}}`, "out of range"},
		"a tail that is no list":    {report, `{"exit":{"code":0,"stderrTail":"a"}}`, "not an array"},
		"started":                   {reply, `{"v":1,"started":{"pid":7}}`, ""},
		"started by a way":          {reply, `{"v":1,"started":{"pid":7,"way":"descriptors"}}`, ""},
		"started by none":           {reply, `{"v":1,"started":{"pid":7,"way":""}}`, `"" is no way`},
		"started without a pid":     {reply, `{"v":1,"started":{}}`, "started: pid: missing"},
		"a pong":                    {reply, `{"v":1,"pong":{"processes":0,"max":8}}`, ""},
		"a refusal":                 {reply, `{"v":1,"error":{"code":"limit","message":"m"}}`, ""},
		"a refusal of version 3":    {reply, `{"v":3,"no":{}}`, "other control protocol version: 3"},
		"two answers":               {reply, `{"v":1,"started":{"pid":7},"error":{"code":"a","message":"b"}}`, "2 of the members"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			checkError(t, tt.parse([]byte(tt.line)), tt.want)
		})
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted, want %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("got %v, want %q", err, want)
	case err != nil && len(err.Error()) > 400:
		t.Errorf("an error of %d bytes repeats its input", len(err.Error()))
	}
}

func TestLinesAreBounded(t *testing.T) {
	long := strings.Repeat("x", 9000)
	l := NewLines(strings.NewReader("a\n\n" + long + "\nrest"))
	for _, want := range []string{"a", "", long} {
		got, err := l.Next(9001)
		if err != nil || string(got) != want {
			t.Fatalf("got %.20q, %v, want %.20q", got, err, want)
		}
	}
	if _, err := l.Next(100); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("an unfinished line: %v", err)
	}
	if _, err := NewLines(strings.NewReader(long + "\n")).Next(9000); !errors.Is(err, ErrTooLong) {
		t.Errorf("a line one byte over: %v", err)
	}
	if _, err := NewLines(strings.NewReader("")).Next(9); !errors.Is(err, io.EOF) {
		t.Errorf("no line: %v", err)
	}
	if _, err := Encode(Report{Exit: &Exit{StderrTail: []string{long}}}, 9000); !errors.Is(err, ErrTooLong) {
		t.Errorf("encoding beyond the bound: %v", err)
	}
}

// Whatever is accepted is written the same again, so that no two readers of
// one line differ.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"v":1,"ping":{}}`, `{"v":2}`, `{"signal":"TERM"}`, `{"stop":{}}`, `{"stopping":{}}`,
		`{"v":1,"start":{"key":"k","env":{"A":"b"},"cwd":"/","argv":["x"],"stdinMillis":1,"termMillis":2}}`,
		`{"v":1,"started":{"pid":3}}`, `{"v":1,"started":{"pid":3,"way":"relay"}}`, `{"way":"descriptors"}`, `{"v":1,"pong":{"processes":1,"max":2}}`, `{"v":1,"error":{"code":"limit","message":"m"}}`,
		`{"exit":{"code":-1,"signal":"KILL","stderrTail":["a","\u0000\ud800"]}}`, `{"v":1,"start":{"key":"a","k\u0065y":"b"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		again(t, line, ParseRequest)
		again(t, line, ParseReply)
		again(t, line, ParseCommand)
		again(t, line, ParseReport)
	})
}

func again[T any](t *testing.T, line []byte, parse func([]byte) (T, error)) {
	first, err := parse(line)
	if err != nil {
		return
	}
	out, err := Encode(first, 1<<30)
	if err != nil {
		t.Fatalf("accepted %q, cannot write it: %v", line, err)
	}
	second, err := parse(bytes.TrimSuffix(out, []byte("\n")))
	if err != nil {
		t.Fatalf("accepted %q, but not %q: %v", line, out, err)
	}
	if diff := cmp.Diff(first, second, equateEmpty); diff != "" {
		t.Fatalf("%q read twice:\n%s", line, diff)
	}
}

// An empty list or map is left out when written; that is the same to us.
var equateEmpty = cmp.FilterValues(func(a, b any) bool {
	switch a := a.(type) {
	case []string:
		b, ok := b.([]string)
		return ok && len(a) == 0 && len(b) == 0
	case map[string]string:
		b, ok := b.(map[string]string)
		return ok && len(a) == 0 && len(b) == 0
	}
	return false
}, cmp.Ignore())
