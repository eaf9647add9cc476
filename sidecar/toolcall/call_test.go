package toolcall

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client"
)

const schema = `{"type":"object","properties":{
	"text":{"type":"string"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"},
	"list":{"type":"array","items":{"type":"integer"}},"names":{"type":"array","items":{"type":"string"}},
	"o":{"type":"object"},"either":{"type":["integer","string"]},"maybe":{"type":["number","null"]},"any":{},
	"level":{"enum":["1","b"]},"zip":{"anyOf":[{"type":"string"},{"type":"null"}]},"size":{"oneOf":[{"type":"integer"},{"enum":["big"]}]},
	"tags":{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"null"}]},"odd":{"anyOf":[{"type":"string"},{"$ref":"#/x"}]},
	"given":{"type":"string","default":"d"}},
	"required":["given"],"additionalProperties":false}`

func TestArgumentsGetTheTypesOfTheSchema(t *testing.T) {
	for name, test := range map[string]struct {
		schema, raw string
		pairs       []string
		want, wrong string
	}{
		"text":                                 {pairs: []string{"text=12"}, want: `{"text":"12"}`},
		"text with an equals sign":             {pairs: []string{"text=a=b"}, want: `{"text":"a=b"}`},
		"text that is empty":                   {pairs: []string{"text="}, want: `{"text":""}`},
		"text with a quote":                    {pairs: []string{`text=say "hi"`}, want: `{"text":"say \"hi\""}`},
		"an integer":                           {pairs: []string{"n=12"}, want: `{"n":12}`},
		"an integer that no float64 holds":     {pairs: []string{"n=9007199254740993"}, want: `{"n":9007199254740993}`},
		"an integer that is none":              {pairs: []string{"n=twelve"}, wrong: "n=twelve is no integer"},
		"an integer with a fraction":           {pairs: []string{"n=1.5"}, wrong: "no integer"},
		"a number":                             {pairs: []string{"x=1.50"}, want: `{"x":1.50}`},
		"a whole number":                       {pairs: []string{"x=-3"}, want: `{"x":-3}`},
		"a truth":                              {pairs: []string{"on=true"}, want: `{"on":true}`},
		"a truth in other words":               {pairs: []string{"on=yes"}, wrong: "no boolean"},
		"a list of one":                        {pairs: []string{"list=1"}, want: `{"list":[1]}`},
		"a list of several":                    {pairs: []string{"list=1", "list=2"}, want: `{"list":[1,2]}`},
		"a list as JSON":                       {pairs: []string{"list=[1, 2]"}, want: `{"list":[1, 2]}`},
		"a list with a wrong item":             {pairs: []string{"list=1", "list=b"}, wrong: "list=b is no integer"},
		"a list of texts":                      {pairs: []string{"names=a", "names=2"}, want: `{"names":["a","2"]}`},
		"an object":                            {pairs: []string{`o={"a":1}`}, want: `{"o":{"a":1}}`},
		"an object that is none":               {pairs: []string{`o=[1]`}, wrong: "no object"},
		"one of two types, the first":          {pairs: []string{"either=5"}, want: `{"either":5}`},
		"one of two types, the second":         {pairs: []string{"either=five"}, want: `{"either":"five"}`},
		"null where it may be":                 {pairs: []string{"maybe=null"}, want: `{"maybe":null}`},
		"any type, as JSON":                    {pairs: []string{"any=[true]"}, want: `{"any":[true]}`},
		"any type, as text":                    {pairs: []string{"any=hello there"}, want: `{"any":"hello there"}`},
		"an enumeration":                       {pairs: []string{"level=1"}, want: `{"level":"1"}`},
		"text or nothing":                      {pairs: []string{"zip=12345"}, want: `{"zip":"12345"}`},
		"nothing, where text may be":           {pairs: []string{"zip=null"}, want: `{"zip":null}`},
		"an alternative":                       {pairs: []string{"size=3"}, want: `{"size":3}`},
		"another alternative":                  {pairs: []string{"size=big"}, want: `{"size":"big"}`},
		"no alternative":                       {pairs: []string{"size=1.5"}, want: `{"size":"1.5"}`}, // the tool knows which texts
		"a list or nothing":                    {pairs: []string{"tags=1"}, want: `{"tags":["1"]}`},
		"nothing, where a list may be":         {pairs: []string{"tags=null"}, want: `{"tags":null}`},
		"several, where a list may be":         {pairs: []string{"tags=a", "tags=b"}, want: `{"tags":["a","b"]}`},
		"an alternative that is elsewhere":     {pairs: []string{"odd=1"}, want: `{"odd":1}`},
		"a name that the tool does not know":   {pairs: []string{"tex=a"}, wrong: `no argument "tex"; it takes text (string), n (integer)`},
		"one value given twice":                {pairs: []string{"text=a", "text=b"}, wrong: "there 2 times"},
		"no equals sign":                       {pairs: []string{"text"}, wrong: "NAME=VALUE"},
		"JSON as it is":                        {raw: `{"n": 1e2}`, want: `{"n": 1e2}`},
		"JSON with a pair over it":             {raw: `{"n":1,"x":2}`, pairs: []string{"n=3"}, want: `{"n":3,"x":2}`},
		"JSON that is no object":               {raw: `[1]`, wrong: "no JSON object"},
		"JSON that is broken":                  {raw: `{"a":`, wrong: "no JSON object"},
		"nothing, with what is needed missing": {schema: `{"properties":{"a":{"type":"string"}},"required":["a"]}`, wrong: `needs --arg a=…`},
		"JSON that lacks what is needed":       {schema: `{"properties":{"a":{}},"required":["a"]}`, raw: `{}`, want: `{}`},
		"no schema":                            {schema: `{}`, pairs: []string{"a=1", "b=x"}, want: `{"a":1,"b":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			if test.schema == "" {
				test.schema = schema
			}
			got, err := Arguments(json.RawMessage(test.schema), test.raw, test.pairs)
			if test.wrong != "" {
				var e *ArgumentError
				if !errors.As(err, &e) || !strings.Contains(err.Error(), test.wrong) {
					t.Fatalf("%v, want %q", err, test.wrong)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Fatalf("%s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestResultsBecomeText(t *testing.T) {
	for name, test := range map[string]struct {
		result client.ToolResult
		want   string
	}{
		"text":            {client.ToolResult{Content: []client.Content{{Type: "text", Text: "a\nb"}}, Structured: json.RawMessage(`{"x":1}`)}, "a\nb\n"},
		"control":         {client.ToolResult{Content: []client.Content{{Type: "text", Text: "a\x1b[2J\u009bb"}}}, "a[2Jb\n"},
		"an image":        {client.ToolResult{Content: []client.Content{{Type: "image", MIMEType: "image/png", Data: "aGVsbG8="}}}, "[image, image/png, 5 bytes]\n"},
		"a link":          {client.ToolResult{Content: []client.Content{{Type: "resource_link", URI: "x://y"}}}, "[link x://y]\n"},
		"a resource":      {client.ToolResult{Content: []client.Content{{Type: "resource", Resource: &client.ResourceContents{URI: "x://y", Text: "t"}}}}, "[resource x://y]\nt\n"},
		"what is unknown": {client.ToolResult{Content: []client.Content{{Type: "hologram"}}}, "[hologram]\n"},
		"structure alone": {client.ToolResult{Structured: json.RawMessage(`{"x":1}`)}, "{\"x\":1}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := Print(&out, &test.result); err != nil || out.String() != test.want {
				t.Errorf("%q, %v, want %q", out.String(), err, test.want)
			}
		})
	}
}
