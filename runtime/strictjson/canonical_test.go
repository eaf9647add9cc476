package strictjson

import "testing"

func TestCanonical(t *testing.T) { // P23
	for name, tc := range map[string]struct{ in, want string }{
		"members are sorted and space goes":    {"{ \"b\" : 1,\r\n \"a\":[ 1 , 2 ]}", `{"a":[1,2],"b":1}`},
		"nested members too":                   {`{"x":{"d":1,"c":2}}`, `{"x":{"c":2,"d":1}}`},
		"strings lose needless escapes":        {`"\u0041\/\u00e9"`, `"A/é"`},
		"numbers stay as they are":             {`[1.0,1e2,-0,100]`, `[1.0,1e2,-0,100]`},
		"what is not JSON comes back as it is": {`{"a":`, `{"a":`},
	} {
		if got := string(Canonical([]byte(tc.in))); got != tc.want {
			t.Errorf("%s: got %s, want %s", name, got, tc.want)
		}
	}
}
