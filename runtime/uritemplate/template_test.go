package uritemplate_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/uritemplate"
)

func parse(t *testing.T, text string) *uritemplate.Template {
	t.Helper()
	tm, err := uritemplate.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return tm
}

// The examples of RFC 6570, levels 1 to 3.
func TestExpand(t *testing.T) {
	values := map[string]string{"var": "value", "hello": "Hello World!", "path": "/foo/bar", "x": "1024", "y": "768", "empty": ""}
	for template, want := range map[string]string{
		"{var}": "value", "{hello}": "Hello%20World%21", "{+var}": "value", "{+hello}": "Hello%20World!", "{+path}/here": "/foo/bar/here",
		"here?ref={+path}": "here?ref=/foo/bar", "X{#var}": "X#value", "X{#hello}": "X#Hello%20World!", "map?{x,y}": "map?1024,768", "{x,hello,y}": "1024,Hello%20World%21,768",
		"{+x,hello,y}": "1024,Hello%20World!,768", "{#x,hello,y}": "#1024,Hello%20World!,768", "X{.var}": "X.value", "X{.x,y}": "X.1024.768", "{/var}": "/value",
		"{/var,x}/here": "/value/1024/here", "{;x,y}": ";x=1024;y=768", "{;x,y,empty}": ";x=1024;y=768;empty", "{?x,y}": "?x=1024&y=768", "{?x,y,empty}": "?x=1024&y=768&empty=",
		"?fixed=yes{&x}": "?fixed=yes&x=1024", "{&x,y,empty}": "&x=1024&y=768&empty=", "{?none,x}": "?x=1024", "a{none}b": "ab", "": "", "ü": "ü",
	} {
		if got := parse(t, template).Expand(values); got != want {
			t.Errorf("%s: got %s, want %s", template, got, want)
		}
	}
}

func TestMatch(t *testing.T) {
	for name, c := range map[string]struct{ template, uri, want string }{
		"a variable":               {"x://{id}/data", "x://42/data", "map[id:42]"},
		"an escape":                {"x://{id}", "x://a%2Fb%20c", "map[id:a/b c]"},
		"nothing of a slash":       {"x://{id}", "x://a/b", ""},
		"an empty value":           {"x://{id}/data", "x:///data", "map[id:]"},
		"reserved characters":      {"file:///{+path}", "file:///a/b?c#d", "map[path:a/b?c#d]"},
		"two at once":              {"x:{a,b}", "x:1,2", "map[a:1 b:2]"},
		"segments":                 {"x:{/a,b}/c", "x:/1/2/c", "map[a:1 b:2]"},
		"a label":                  {"x:n{.ext}", "x:n.txt", "map[ext:txt]"},
		"parameters":               {"x:n{;a,b}", "x:n;a=1;b", "map[a:1 b:]"},
		"a query":                  {"x:s{?q,n}", "x:s?q=a%20b&n=2", "map[n:2 q:a b]"},
		"a query in another order": {"x:s{?q,n}", "x:s?n=2&q=a", "map[n:2 q:a]"},
		"a query with less":        {"x:s{?q,n}", "x:s?n=2", "map[n:2]"},
		"no query at all":          {"x:s{?q,n}", "x:s", "map[]"},
		"a query with more":        {"x:s{?q}", "x:s?q=1&z=2", ""},
		"a query with one twice":   {"x:s{?q}", "x:s?q=1&q=2", ""},
		"more of a query":          {"x:s?a=b{&q}", "x:s?a=b&q=1", "map[q:1]"},
		"more of a query, none":    {"x:s?a=b{&q}", "x:s?a=b", "map[]"},
		"more of another query":    {"x:s?a=b{&q}", "x:s?a=c&q=1", ""},
		"a fragment":               {"x:s{#f}", "x:s#top/1", "map[f:top/1]"},
		"a broken escape":          {"x:{a}", "x:%4", ""},
		"an escape that is none":   {"x:{a}", "x:%zz", ""},
		"more than the template":   {"x:{a}/b", "x:1/b/c", ""},
		"less than the template":   {"x:{a}/b", "x:1", ""},
		"characters of a pattern":  {"x:a.b(c)*{d}", "x:a.b(c)*1", "map[d:1]"},
		"no pattern":               {"x:a.b{d}", "x:aXb1", ""},
		"a line end":               {"x:{a}", "x:1\n", ""},
		"no variables":             {"x:a", "x:a", "map[]"},
	} {
		values, ok := parse(t, c.template).Match(c.uri)
		got := ""
		if ok {
			got = fmt.Sprint(values)
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func TestWhatIsNoTemplateIsRefused(t *testing.T) {
	for _, text := range []string{"{", "}", "{}", "{a", "a}b", "{a b}", "{a*}", "{a:3}", "{a}{a}", "{a,a}", "{=a}", "{|a}", "{!a}", "{a,}", "{.a.}", "{?a}x", "{?a}{b}", "{a..b}", "{ü}", "{{a}}", strings.Repeat("a", 5000),
		"{" + strings.TrimSuffix(manyNames(), ",") + "}"} {
		if _, err := uritemplate.Parse(text); !errors.Is(err, uritemplate.ErrTemplate) {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	tm := parse(t, "x:{a}/{b.c}{?d_1}")
	if fmt.Sprint(tm.Names()) != "[a b.c d_1]" || tm.Literal() != 3 || tm.String() != "x:{a}/{b.c}{?d_1}" {
		t.Errorf("got %v %d %s", tm.Names(), tm.Literal(), tm)
	}
}

func manyNames() string {
	var b strings.Builder
	for i := range uritemplate.MaxVariables + 1 {
		fmt.Fprintf(&b, "v%d,", i)
	}
	return b.String()
}

// A variable between literals takes what it can; time grows with the URI only.
func TestMatchingTakesTimeInProportion(t *testing.T) {
	tm := parse(t, "x:{+a}/{+b}/{+c}/{+d}/end")
	if _, ok := tm.Match("x:" + strings.Repeat("/", 8000)); ok {
		t.Error("it matched")
	}
}

func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"x:{a}", "x:{+a}{/b}", "x:s{?q,n}", "x:s?a=b{&q}", "x:{;a,b}{.c}", "file:///{+path}", "{#f}", "x:&?{&a}"} {
		f.Add(seed, "x:1", "va lue/ü")
	}
	f.Fuzz(func(t *testing.T, template, uri, value string) {
		tm, err := uritemplate.Parse(template)
		if err != nil {
			return
		}
		tm.Match(uri)
		values := map[string]string{}
		for i, name := range tm.Names() {
			values[name] = fmt.Sprint(i, value)
		}
		expanded := tm.Expand(values)
		if strings.ContainsAny(template, "+#&?") || len(tm.Names()) == 0 {
			return // a variable may take what belongs to the next
		}
		got, ok := tm.Match(expanded)
		if !ok || !maps.Equal(got, values) && !ambiguous(template) {
			t.Errorf("%q expands to %q, which is read as %v", template, expanded, got)
		}
	})
}

// ambiguous: two variables with nothing between them that could not be part of
// the first.
func ambiguous(template string) bool {
	rest := template
	for {
		open := strings.IndexByte(rest, '{')
		if open < 0 {
			return false
		}
		end := strings.IndexByte(rest, '}')
		if end < 0 {
			return false
		}
		rest = rest[end+1:]
		next := strings.IndexByte(rest, '{')
		if next < 0 {
			return strings.ContainsAny(rest, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._~%")
		}
		if !strings.ContainsAny(rest[:next], ":/@!$'()*,;=[]") {
			return true
		}
	}
}
