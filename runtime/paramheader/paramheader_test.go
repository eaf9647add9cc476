package paramheader_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/fairlead-dev/fairlead/runtime/paramheader"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// W15.14, P34, and the tools of the suite's http-invalid-tool-headers.
func TestParse(t *testing.T) {
	one := func(property string) string { return `{"type":"object","properties":{"a":` + property + `}}` }
	deep := func(n int) string {
		return strings.Repeat(`{"properties":{"a":`, n) + `{"type":"string","x-mcp-header":"A"}` + strings.Repeat(`}}`, n)
	}
	for name, tt := range map[string]struct {
		schema string
		want   []string // header and path; nil: invalid
	}{
		"nothing":                            {`{}`, []string{}},
		"no schema":                          {``, []string{}},
		"a boolean schema":                   {`true`, []string{}},
		"a string":                           {one(`{"type":"string","x-mcp-header":"Region"}`), []string{"Mcp-Param-Region a"}},
		"an integer":                         {one(`{"type":"integer","x-mcp-header":"N"}`), []string{"Mcp-Param-N a"}},
		"a boolean":                          {one(`{"type":"boolean","x-mcp-header":"F"}`), []string{"Mcp-Param-F a"}},
		"every character of a token":         {one("{\"type\":\"boolean\",\"x-mcp-header\":\"!#$%&'*+-.^_`|~09azAZ\"}"), []string{"Mcp-Param-!#$%&'*+-.^_`|~09azAZ a"}},
		"nested":                             {one(`{"type":"object","properties":{"b":{"type":"string","x-mcp-header":"B"}}}`), []string{"Mcp-Param-B a.b"}},
		"several, in order":                  {`{"properties":{"b":{"type":"string","x-mcp-header":"Z"},"a":{"type":"string","x-mcp-header":"A"}}}`, []string{"Mcp-Param-Z b", "Mcp-Param-A a"}},
		"a property of that name":            {`{"properties":{"x-mcp-header":{"type":"string"}}}`, []string{}},
		"an annotated property of that name": {`{"properties":{"x-mcp-header":{"type":"string","x-mcp-header":"X"}}}`, []string{"Mcp-Param-X x-mcp-header"}},
		"in data":                            {one(`{"type":"string","default":{"x-mcp-header":"A"},"examples":[{"x-mcp-header":"A"}],"enum":["x-mcp-header"],"description":"\"x-mcp-header\""}`), []string{}},
		"deep":                               {deep(32), []string{"Mcp-Param-A " + strings.TrimSuffix(strings.Repeat("a.", 32), ".")}},
		"too deep":                           {deep(33), nil},
		"empty":                              {one(`{"type":"string","x-mcp-header":""}`), nil},
		"not a string":                       {one(`{"type":"string","x-mcp-header":1}`), nil},
		"null":                               {one(`{"type":"string","x-mcp-header":null}`), nil},
		"a space":                            {one(`{"type":"string","x-mcp-header":"My Region"}`), nil},
		"a colon":                            {one(`{"type":"string","x-mcp-header":"Region:Primary"}`), nil},
		"not ASCII":                          {one(`{"type":"string","x-mcp-header":"Région"}`), nil},
		"a control character":                {one(`{"type":"string","x-mcp-header":"Region\t1"}`), nil},
		"a number":                           {one(`{"type":"number","x-mcp-header":"A"}`), nil},
		"an object":                          {one(`{"type":"object","x-mcp-header":"A"}`), nil},
		"an array":                           {one(`{"type":"array","x-mcp-header":"A"}`), nil},
		"the type null":                      {one(`{"type":"null","x-mcp-header":"A"}`), nil},
		"no type":                            {one(`{"x-mcp-header":"A"}`), nil},
		"several types":                      {one(`{"type":["string","null"],"x-mcp-header":"A"}`), nil},
		"twice":                              {`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}}}`, nil},
		"twice but for letter case":          {`{"properties":{"a":{"type":"string","x-mcp-header":"MyField"},"b":{"properties":{"c":{"type":"string","x-mcp-header":"myfield"}}}}}`, nil},
		"on the root":                        {`{"type":"object","x-mcp-header":"A"}`, nil},
		"in items":                           {one(`{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`), nil},
		"in anyOf":                           {`{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, nil},
		"in not":                             {`{"not":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, nil},
		"in then":                            {`{"if":true,"then":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`, nil},
		"in $defs":                           {`{"$defs":{"d":{"type":"string","x-mcp-header":"A"}}}`, nil},
		"in patternProperties":               {`{"patternProperties":{"^a":{"type":"string","x-mcp-header":"A"}}}`, nil},
		"a good one and one in items":        {`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"items":{"x-mcp-header":"B"}}}}`, nil},
	} {
		params, err := paramheader.Parse([]byte(tt.schema))
		var got []string
		if err == nil {
			got = []string{}
		} else if !errors.Is(err, paramheader.ErrInvalid) || params != nil {
			t.Errorf("%s: %v and %v", name, params, err)
		}
		for _, p := range params {
			got = append(got, p.Header+" "+strings.Join(p.Path, "."))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
	}
}

// W15.20, W15.23
func TestEncode(t *testing.T) {
	for in, want := range map[string]string{
		"plain": "plain", "us west 1": "us west 1", "": "", "Hëllo": "=?base64?SMOrbGxv?=", " x": "=?base64?IHg=?=", "x\t": "=?base64?eAk=?=", "a\tb": "=?base64?YQli?=",
		"a\r\nb": "=?base64?YQ0KYg==?=", "=?base64?SGVsbG8=?=": "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?=", "=?BASE64?x?=": "=?BASE64?x?=", "\x7f": "=?base64?fw==?=",
	} {
		if got := paramheader.Encode(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// W15.3, W15.4, W15.6, W15.23
func TestDecode(t *testing.T) {
	const refused = "refused"
	for in, want := range map[string]string{
		"": "", "us west 1": "us west 1", " \tx ": "x", "=?base64?SGVsbG8=?=": "Hello", "=?base64??=": "", "=?base64?SGVsbG8?=": refused, "=?base64?SGV*bG8=?=": refused,
		"=?base64?/////w==?=": refused, "=?base64?SGVs\nbG8=?=": refused, "SGVsbG8=": "SGVsbG8=", "=?base64?SGVsbG8=": "=?base64?SGVsbG8=", "=?BASE64?SGVsbG8=?=": "=?BASE64?SGVsbG8=?=",
		"é": refused, "a\x00": refused, "a\tb": "a\tb", "\x7f": refused, "=?base64?": "=?base64?", "=?base64?=": "=?base64?=",
	} {
		got, ok := paramheader.Decode(in)
		if !ok {
			got = refused
		}
		if got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// W15.14, W15.19
func TestText(t *testing.T) {
	const none = "none"
	for in, want := range map[string]string{
		`"a b"`: "a b", `"\u00e9"`: "é", `true`: "true", `false`: "false", `null`: none, `{}`: none, `[1]`: none, ``: none,
		`0`: "0", `-0`: "0", `-0.0e5`: "0", `42`: "42", `42.0`: "42", `4.2e1`: "42", `4200e-2`: "42", `-7`: "-7", `1e15`: "1000000000000000", `0.5`: "0.5", `1e-400`: "1e-400", `0e999999`: "0",
		`9007199254740991`: "9007199254740991", `-9007199254740991.0`: "-9007199254740991", `9007199254740992`: "9007199254740992", `9007199254740992.0`: "9007199254740992.0",
		`9007199254740991.4`: "9007199254740991.4", `1e999999999999`: "1e999999999999", `0.0000042e7`: "42", `1e16`: "1e16", `9e15`: "9000000000000000",
	} {
		got, ok := paramheader.Text([]byte(in))
		if !ok {
			got = none
		}
		if got != want {
			t.Errorf("%s became %q, want %q", in, got, want)
		}
	}
}

func TestFields(t *testing.T) { // W15.16
	params, err := paramheader.Parse([]byte(`{"properties":{"s":{"type":"string","x-mcp-header":"S"},"o":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for arguments, want := range map[string]string{
		`{"s":"a","o":{"n":1.0}}`: "[{Mcp-Param-S a} {Mcp-Param-N 1}]", `{"s":null,"o":null}`: "[]", ``: "[]", `{"s":{},"o":{"n":[]}}`: "[]", `{"s":""}`: "[{Mcp-Param-S }]",
		`{"n":1,"s":5}`: "[{Mcp-Param-S 5}]", `[]`: "[]",
	} {
		if got := fmt.Sprint(params.Fields([]byte(arguments))); got != want {
			t.Errorf("%s: %s, want %s", arguments, got, want)
		}
	}
	// An error names the field and gives no value away.
	err = params.Check(func(string) (string, bool) { return "secret", true }, []byte(`{"s":"hidden"}`))
	if !errors.Is(err, paramheader.ErrMismatch) || !strings.Contains(err.Error(), "Mcp-Param-S") || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
}

// What is encoded decodes to itself; nothing that is not UTF-8 comes out; what
// a field may not hold is never made.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{"add", "", "=?base64?SGVsbG8=?=", "=?base64?SGVsbG8?=", "=?BASE64?eA==?=", "us west 1", "é", "a\r\nb", "=?base64??=", " \t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if decoded, ok := paramheader.Decode(text); ok && !utf8.ValidString(decoded) {
			t.Fatalf("%q became %q", text, decoded)
		}
		if !utf8.ValidString(text) {
			return
		}
		value := paramheader.Encode(text)
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) || strings.Trim(value, " ") != value {
			t.Fatalf("%q is no field value", value)
		}
		if back, ok := paramheader.Decode(value); !ok || back != text {
			t.Fatalf("%q became %q, %v", text, back, ok)
		}
		if back, ok := paramheader.Decode("=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="); !ok || back != text {
			t.Fatalf("the Base64 of %q became %q, %v", text, back, ok)
		}
	})
}

// The integer reading agrees with exact arithmetic.
func FuzzText(f *testing.F) {
	for _, seed := range []string{"0", "-0", "42.0", "4.2e1", "1e15", "9007199254740992", "0.1", "1e-400", "12300e-2", "-1E+3"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strictjson.Scan([]byte(text), strictjson.FromClient) != nil || len(text) > 40 || strings.ContainsAny(text, "\"{[nt \n\r\tf") {
			return
		}
		mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
		if len(strings.TrimLeft(exponent, "+-0")) > 3 {
			return // too large for the reference
		}
		_ = mantissa
		got, ok := paramheader.Text([]byte(text))
		exact, legal := new(big.Rat).SetString(text)
		if !legal || !ok {
			t.Fatalf("%q: %q, %v", text, got, ok)
		}
		want := text
		if limit := new(big.Int).Lsh(big.NewInt(1), 53); exact.IsInt() && exact.Num().CmpAbs(limit) < 0 {
			want = exact.Num().String()
		}
		if got != want {
			t.Fatalf("%q became %q, want %q", text, got, want)
		}
	})
}

// Whatever a schema and arguments are: what the client sends for them, the
// server takes.
func FuzzRoundTrip(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}`, `{"a":"é ","b":{"c":42.0}}`)
	f.Add(`{"properties":{"a":{"type":"boolean","x-mcp-header":"A"}},"items":{"x-mcp-header":"B"}}`, `{"a":true}`)
	f.Add(`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`, `{"a":{"b":null}}`)
	f.Fuzz(func(t *testing.T, schema, arguments string) {
		if strictjson.Scan([]byte(schema), strictjson.FromWorkload) != nil || strictjson.Scan([]byte(arguments), strictjson.FromClient) != nil {
			return
		}
		params, err := paramheader.Parse([]byte(schema))
		if err != nil {
			return
		}
		sent := map[string]string{}
		for _, field := range params.Fields([]byte(arguments)) {
			sent[field.Name] = paramheader.Encode(field.Value)
		}
		err = params.Check(func(name string) (string, bool) { v, ok := sent[name]; return v, ok }, []byte(arguments))
		if err != nil {
			t.Fatalf("%s with %s: %v", schema, arguments, err)
		}
	})
}
