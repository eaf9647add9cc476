package strictjson

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestCanonical(t *testing.T) { // P23
	for name, tc := range map[string]struct{ in, want string }{
		"members are sorted and space goes":    {"{ \"b\" : 1,\r\n \"a\":[ 1 , 2 ]}", `{"a":[1,2],"b":1}`},
		"nested members too":                   {`{"x":{"d":1,"c":2}}`, `{"x":{"c":2,"d":1}}`},
		"strings lose needless escapes":        {`"\u0041\/\u00e9"`, `"A/é"`},
		"numbers stay as they are":             {`[1.0,1e2,-0,100]`, `[1.0,1e2,-0,100]`},
		"in every way at once":                 {`{ "b":1, "a":[ 1.0, 1e2, 12345678901234567890 ]}`, `{"a":[1.0,1e2,12345678901234567890],"b":1}`},
		"names are strings too":                {`{"\u0061":"\u00e9\/<"}`, `{"a":"é/<"}`},
		"null is a value":                      {`{"a":{"d":1,"c":null}}`, `{"a":{"c":null,"d":1}}`},
		"pairs of surrogates are one":          {`{"a":"\ud83d\ude00"}`, `{"a":"😀"}`},
		"what is not JSON comes back as it is": {`{"a":`, `{"a":`},
	} {
		if got := string(Canonical([]byte(tc.in))); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}

// P23: one form for all spellings, and numbers as they were written.
func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"b":1,"a":[1.0]}`, `{"a":"\u0041\ud800"}`, `{"":{"\n":null}}`, `[]`, `{"a":1e400}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if Scan(raw, FromClient) != nil {
			return
		}
		once := Canonical(raw)
		if !json.Valid(once) || !bytes.Equal(Canonical(once), once) {
			t.Errorf("%q becomes %q, then %q", raw, once, Canonical(once))
		}
		var spelt bytes.Buffer
		if err := json.Indent(&spelt, raw, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		if got := Canonical(spelt.Bytes()); !bytes.Equal(got, once) {
			t.Errorf("%q spelt with spaces becomes %q, not %q", raw, got, once)
		}
	})
}
