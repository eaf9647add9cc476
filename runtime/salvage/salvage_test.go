package salvage

import (
	"strings"
	"testing"
)

func TestPeek(t *testing.T) {
	long := strings.Repeat("9", 100)
	for name, tc := range map[string]struct {
		in   string
		want Peek
	}{
		"an id before bytes that are not UTF-8":           {"{\"id\":41,\"result\":{\"text\":\"\xc7\xd1\"}}", Peek{ID: "41", Object: true}}, // R5, C10
		"an id after the result":                          {`{"result":{"id":7,"a":[1,{"id":8}]},"id" : 41 }`, Peek{ID: "41", Object: true}},
		"a string id":                                     {`{"jsonrpc":"2.0","id":"41","result":{`, Peek{ID: `"41"`, Object: true}},
		"an id in a message cut right after it":           {`{"id":41,"result":{"content":[{"te`, Peek{ID: "41", Object: true}},
		"an id cut in its middle is no id":                {`{"id":4`, Peek{Object: true}},
		"an id inside a string is text":                   {`{"a":"\"id\":3,","b":{"id":4}`, Peek{Object: true}},
		"a member whose name only begins with id":         {`{"idx":4,"xid":5}`, Peek{Object: true}},
		"a broken request":                                {`{"id":3,"method":"sampling/createMessage","params":{"x":}}`, Peek{ID: "3", Object: true, Method: true}},
		"the word method as a value":                      {`{"id":3,"result":"method"}`, Peek{ID: "3", Object: true}},
		"null, fractions, objects and arrays":             {`{"id":null}{"id":1}`, Peek{Object: true}},
		"a fraction":                                      {`{"id":1.5,"result":{}}`, Peek{Object: true}},
		"an object as id":                                 {`{"id":{"id":1},"result":{}}`, Peek{Object: true}},
		"an id longer than any of ours":                   {`{"id":` + long + `,"result":{}}`, Peek{Object: true}},
		"a banner":                                        {"🚀 demo server {\"id\":1}", Peek{}}, // C07
		"an array is no message of ours":                  {`[{"id":1,"result":{}}]`, Peek{}},
		"nothing":                                         {"", Peek{}},
		"leading blanks and a negative id":                {" \t{ \"id\" : -5 , \"result\":1}", Peek{ID: "-5", Object: true}},
		"trailing text after the object is not looked at": {`{"result":1} {"id":9}`, Peek{Object: true}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Bytes([]byte(tc.in)); got != tc.want {
				t.Errorf("whole: %+v, want %+v", got, tc.want)
			}
			var s Scanner
			for i := range len(tc.in) {
				s.Write([]byte{tc.in[i]})
			}
			if got := s.Peek(); got != tc.want {
				t.Errorf("byte by byte: %+v, want %+v", got, tc.want)
			}
		})
	}
}

func FuzzPieces(f *testing.F) {
	f.Add([]byte(`{"id":1,"result":{"x":"\u00e9"}}`), uint(3))
	f.Add([]byte(`{"a":"\\","id":"x","method":1`), uint(1))
	f.Fuzz(func(t *testing.T, b []byte, at uint) {
		whole := Bytes(b)
		n := int(at % uint(len(b)+1))
		var s Scanner
		s.Write(b[:n])
		s.Write(b[n:])
		if got := s.Peek(); got != whole {
			t.Fatalf("cut at %d: %+v, whole %+v", n, got, whole)
		}
		if len(whole.ID) > maxID {
			t.Fatalf("id of %d bytes", len(whole.ID))
		}
	})
}
