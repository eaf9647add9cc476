package middleware_test

import (
	"path"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/middleware"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

func fence() middleware.Middleware {
	return middleware.AllowedRoots(middleware.Roots{
		Allowed:   []string{"/srv/data", "file:///home/a%20b/", "relative", "file://other/x"},
		Arguments: map[string][]string{"copy": {"from", "to"}},
	})
}

// W31.5
func TestAllowedRoots(t *testing.T) {
	for name, tt := range map[string]struct {
		method, params string
		allowed        bool
	}{
		"a file inside":                {"resources/read", `{"uri":"file:///srv/data/x.txt"}`, true},
		"the directory itself":         {"resources/read", `{"uri":"file:///srv/data"}`, true},
		"a name that begins the same":  {"resources/read", `{"uri":"file:///srv/database"}`, false},
		"a file outside":               {"resources/read", `{"uri":"file:///etc/passwd"}`, false},
		"a way out":                    {"resources/read", `{"uri":"file:///srv/data/../../etc/passwd"}`, false},
		"a way out and back":           {"resources/read", `{"uri":"file:///srv/x/../data/y"}`, true},
		"an encoded way out":           {"resources/read", `{"uri":"file:///srv/data/%2e%2e/%2E%2E/etc/passwd"}`, false},
		"an encoded slash":             {"resources/read", `{"uri":"file:///srv/data/..%2f..%2fetc"}`, false},
		"encoded letters":              {"resources/read", `{"uri":"file:///home/a%20b/%63"}`, true},
		"this host":                    {"resources/read", `{"uri":"file://localhost/srv/data/x"}`, true},
		"another host":                 {"resources/read", `{"uri":"file://evil/srv/data/x"}`, false},
		"the scheme in capitals":       {"resources/read", `{"uri":"FILE:///etc/passwd"}`, false},
		"no slashes":                   {"resources/read", `{"uri":"file:etc/passwd"}`, false},
		"one slash":                    {"resources/read", `{"uri":"file:/srv/data/x"}`, true},
		"a NUL":                        {"resources/read", `{"uri":"file:///srv/data/%00"}`, false},
		"bad encoding":                 {"resources/read", `{"uri":"file:///srv/data/%zz"}`, false},
		"a user":                       {"resources/read", `{"uri":"file://u@localhost/srv/data/x"}`, false},
		"another scheme":               {"resources/read", `{"uri":"https://x/etc/passwd"}`, true},
		"a subscription outside":       {"resources/subscribe", `{"uri":"file:///etc"}`, false},
		"a listen outside":             {"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["note://x","file:///srv/data/x","file:///etc"]}}`, false},
		"a listen inside":              {"subscriptions/listen", `{"notifications":{"resourceSubscriptions":["note://x","file:///srv/data/x"]}}`, true},
		"arguments inside":             {"tools/call", `{"name":"copy","arguments":{"from":"/srv/data/a","to":"file:///srv/data/b"}}`, true},
		"an argument outside":          {"tools/call", `{"name":"copy","arguments":{"from":"/srv/data/a","to":"/tmp/b"}}`, false},
		"an argument that is relative": {"tools/call", `{"name":"copy","arguments":{"from":"a"}}`, false},
		"one of several":               {"tools/call", `{"name":"copy","arguments":{"from":["/srv/data/a","/etc/x"]}}`, false},
		"an argument of another type":  {"tools/call", `{"name":"copy","arguments":{"from":5}}`, true},
		"an argument that is no path":  {"tools/call", `{"name":"copy","arguments":{"mode":"/etc"}}`, true},
		"a tool without paths":         {"tools/call", `{"name":"other","arguments":{"from":"/etc"}}`, true},
		"no params":                    {"tools/list", ``, true},
	} {
		o, passed := run(t, fence(), request(tt.method, tt.params), ok())
		if (passed != nil) != tt.allowed || passed == nil && (o.Err.Code != -32602 || o.Err.Reason() != "outside_roots") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	nothing := middleware.AllowedRoots(middleware.Roots{})
	if _, passed := run(t, nothing, request("resources/read", `{"uri":"file:///x"}`), ok()); passed != nil {
		t.Error("without roots something is allowed")
	}
	all := middleware.AllowedRoots(middleware.Roots{Allowed: []string{"/"}})
	if _, passed := run(t, all, request("resources/read", `{"uri":"file:///x"}`), ok()); passed == nil {
		t.Error("below the root of everything something is not allowed")
	}
}

// The server learns of the roots inside only, whichever way they come.
func TestAllowedRootsOfTheClient(t *testing.T) {
	for result, want := range map[string]string{
		`{"roots":[{"uri":"file:///srv/data/p","name":"P","x":1.0},{"uri":"file:///etc"},{"uri":"file:///"},{"uri":5},7]}`: `{"roots":[{"uri":"file:///srv/data/p","name":"P","x":1.0}]}`,
		`{"roots":[]}`: `{"roots":[]}`,
		`{}`:           `{"roots":[]}`,
		`[]`:           `{"roots":[]}`,
	} {
		_, passed := run(t, fence(), &middleware.Message{Kind: jsonrpc.KindResponse, Method: "roots/list", Result: []byte(result)}, jsonrpc.Outcome{})
		if string(passed.Result) != want {
			t.Errorf("%s became %s", result, passed.Result)
		}
	}
	_, passed := run(t, fence(), request("tools/call", `{"name":"x","inputResponses":{"a":{"roots":[{"uri":"file:///etc"}]},"b":{"action":"accept"},"":{"roots":[{"uri":"file:///srv/data"}]}}}`), ok())
	if want := `{"name":"x","inputResponses":{"a":{"roots":[]},"b":{"action":"accept"},"":{"roots":[{"uri":"file:///srv/data"}]}}}`; string(passed.Params) != want {
		t.Errorf("%s", passed.Params)
	}
	if _, passed := run(t, fence(), &middleware.Message{Kind: jsonrpc.KindResponse, Method: "roots/list", Err: jsonrpc.Errorf(-1, "no")}, jsonrpc.Outcome{}); passed.Err == nil || passed.Result != nil {
		t.Errorf("%+v", passed)
	}
}

// Whatever the name: what is let through names something inside, by the rules
// of the path package.
func FuzzAllowedRoots(f *testing.F) {
	for _, seed := range []string{"/srv/data/x", "file:///srv/data/../x", "file:///srv/data/%2e%2e/x", "file:/srv/data//x", "FILE://LOCALHOST/srv/data", "/srv/data/./../data/y", "file:///srv%2fdata/x", "/srv/#0000/../data/0"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		params := strictjson.Quote([]byte(`{"name":"copy","arguments":{"from":`), name)
		_, passed := run(t, fence(), request("tools/call", string(params)+"}}"), ok())
		if passed == nil || strings.Contains(name, "%") || strings.Contains(name, "\ufffd") {
			return
		}
		at := name
		for _, prefix := range []string{"file://localhost", "file://", "file:"} {
			if len(at) >= len(prefix) && strings.EqualFold(at[:len(prefix)], prefix) {
				at = at[len(prefix):]
				at, _, _ = strings.Cut(at, "#")
				at, _, _ = strings.Cut(at, "?")
				break
			}
		}
		if clean := path.Clean(at); clean != "/srv/data" && !strings.HasPrefix(clean, "/srv/data/") && clean != "/home/a b" && !strings.HasPrefix(clean, "/home/a b/") {
			t.Fatalf("%q leads to %q", name, clean)
		}
	})
}
