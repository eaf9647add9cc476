package repair

import (
	"bytes"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
	"github.com/google/go-cmp/cmp"
)

// applied is the result with its repairs.
func applied(t *testing.T, method, raw string, o Options) (string, []Note) {
	t.Helper()
	edits, notes := Edits(method, []byte(raw), o)
	if len(edits) == 0 {
		return raw, notes
	}
	out, err := strictjson.Splice([]byte(raw), edits...)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), notes
}

func TestEdits(t *testing.T) {
	const tool = `{"name":"a","inputSchema":{"type":"object"}}`
	for name, tc := range map[string]struct {
		method, in, want string
		opts             Options
		notes            []Note
	}{
		"what is right stays byte for byte": {mcp.MethodToolsList,
			`{ "tools" : [ {"name":"a", "inputSchema":{ "type":"object" ,"x":null} } ,` + tool + `], "x":null, "nextCursor":"c" }`,
			`{ "tools" : [ {"name":"a", "inputSchema":{ "type":"object" ,"x":null} } ,` + tool + `], "x":null, "nextCursor":"c" }`, Options{}, nil},
		"null members of the protocol's own objects": {mcp.MethodToolsList, // C25
			`{"tools":[{"name":"a","title":null,"description":null,"icons":null,"annotations":null,"outputSchema":null,"execution":null,"_meta":null,"inputSchema":{"type":"object","required":null,"properties":null,"default":null},"vendor":null}],"nextCursor":null,"_meta":null}`,
			`{"tools":[{"name":"a","inputSchema":{"type":"object","default":null},"vendor":null}]}`, Options{},
			[]Note{{NullDropped, ""}, {NullDropped, ""}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}, {NullDropped, "a"}}},
		"null hints": {mcp.MethodToolsList,
			`{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"title":null,"readOnlyHint":true,"x":null}}]}`,
			`{"tools":[{"name":"a","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"x":null}}]}`, Options{}, []Note{{NullDropped, "a"}}},
		"schemas without their root": {mcp.MethodToolsList, // C26
			`{"tools":[{"name":"a"},{"name":"b","inputSchema":null},{"name":"c","inputSchema":{}},{"name":"d","inputSchema":{"properties":{"type":{"type":null}},"type":null}},{"name":"e","inputSchema":{"type":"object"},"outputSchema":{"properties":{}}}]}`,
			`{"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"b","inputSchema":{"type":"object"}},{"name":"c","inputSchema":{"type":"object"}},{"name":"d","inputSchema":{"properties":{"type":{"type":null}},"type":"object"}},{"name":"e","inputSchema":{"type":"object"},"outputSchema":{"properties":{},"type":"object"}}]}`, Options{},
			[]Note{{SchemaType, "a"}, {SchemaType, "b"}, {SchemaType, "c"}, {SchemaType, "d"}, {SchemaType, "e"}}},
		"an output schema with any root": {mcp.MethodToolsList,
			`{"tools":[{"name":"e","inputSchema":{"type":"object"},"outputSchema":{"anyOf":[]}}]}`,
			`{"tools":[{"name":"e","inputSchema":{"type":"object"},"outputSchema":{"anyOf":[]}}]}`, Options{AnySchemaRoot: true}, nil},
		"tools that nobody could call are left out": {mcp.MethodToolsList,
			`{"tools":[{"inputSchema":{}} , ` + tool + `, 7 , {"name":"s","inputSchema":"x"}, {"name":"t","inputSchema":{"type":"string"}} ]}`,
			`{"tools":[  ` + tool + ` ]}`, Options{}, []Note{{ItemLeftOut, ""}, {ItemLeftOut, ""}, {ItemLeftOut, "s"}, {ItemLeftOut, "t"}}},
		"none is left": {mcp.MethodToolsList, `{"tools":[{}, {}]}`, `{"tools":[]}`, Options{}, []Note{{ItemLeftOut, ""}, {ItemLeftOut, ""}}},
		"execution is hidden": {mcp.MethodToolsList,
			`{"tools":[{"name":"a","execution":{"taskSupport":"required"},"inputSchema":{"type":"object"}}]}`, `{"tools":[` + tool + `]}`, Options{NoExecution: true}, nil},
		"a list that is null":    {mcp.MethodToolsList, `{"tools":null}`, `{"tools":[]}`, Options{}, []Note{{ListMade, "tools"}}},
		"a list that is missing": {mcp.MethodPromptsList, `{}`, `{"prompts":[]}`, Options{}, []Note{{ListMade, "prompts"}}},
		"prompts": {mcp.MethodPromptsList,
			`{"prompts":[{"name":"p","title":null,"arguments":[{"name":"x","required":null,"y":null}]},{"name":"q","arguments":null}]}`,
			`{"prompts":[{"name":"p","arguments":[{"name":"x","y":null}]},{"name":"q"}]}`, Options{}, []Note{{NullDropped, ""}, {NullDropped, "p"}, {NullDropped, "q"}}},
		"resources": {mcp.MethodResourcesList,
			`{"resources":[{"name":"r","uri":"a:b","size":null,"mimeType":null,"y":null}]}`, `{"resources":[{"name":"r","uri":"a:b","y":null}]}`, Options{}, []Note{{NullDropped, "r"}, {NullDropped, "r"}}},
		"templates": {mcp.MethodTemplatesList,
			`{"resourceTemplates":[{"name":"r","uriTemplate":"a","annotations":null}]}`, `{"resourceTemplates":[{"name":"r","uriTemplate":"a"}]}`, Options{}, []Note{{NullDropped, "r"}}},
		"contents": {mcp.MethodResourcesRead,
			`{"contents":[{"uri":"a","blob":null,"text":""}]}`, `{"contents":[{"uri":"a","text":""}]}`, Options{}, []Note{{NullDropped, ""}}},
		"messages of a prompt": {mcp.MethodPromptsGet, `{"messages":null,"description":null}`, `{"messages":[]}`, Options{}, []Note{{NullDropped, ""}, {ListMade, "messages"}}},
		"no content at all":    {mcp.MethodToolsCall, `{"isError":null}`, `{"content":[]}`, Options{}, []Note{{NullDropped, ""}, {ContentAdded, ""}}}, // R4
		"structured content only": {mcp.MethodToolsCall, // C27, R8
			`{"content":null,"structuredContent":{"a":1.0,"é":"\u2028"}}`, `{"content":[{"type":"text","text":"{\"a\":1.0,\"é\":\"\\u2028\"}"}],"structuredContent":{"a":1.0,"é":"\u2028"}}`, Options{}, []Note{{ContentAdded, ""}}},
		"structured content that is null": {mcp.MethodToolsCall, `{"content":[],"structuredContent":null}`, `{"content":[]}`, Options{}, []Note{{NullDropped, ""}}},
		"text for who knows no structure": {mcp.MethodToolsCall,
			`{"content":[ ],"structuredContent":1}`, `{"content":[ {"type":"text","text":"1"}],"structuredContent":1}`, Options{TextToo: true}, []Note{{ContentAdded, ""}}},
		"text is there": {mcp.MethodToolsCall,
			`{"content":[{"type":"text","text":""}],"structuredContent":1}`, `{"content":[{"type":"text","text":""}],"structuredContent":1}`, Options{TextToo: true}, nil},
		"null members of content": {mcp.MethodToolsCall,
			`{"content":[{"type":"text","text":"null","annotations":null,"_meta":null}]}`, `{"content":[{"type":"text","text":"null"}]}`, Options{}, []Note{{NullDropped, ""}, {NullDropped, ""}}},
		"the word null in a text":    {mcp.MethodToolsCall, `{"content":[{"type":"text","text":"null"}]}`, `{"content":[{"type":"text","text":"null"}]}`, Options{}, nil},
		"completions without values": {mcp.MethodComplete, `{"completion":{"values":null,"total":null}}`, `{"completion":{"values":[]}}`, Options{}, []Note{{ListMade, "completion"}, {NullDropped, ""}}},
		"no completion":              {mcp.MethodComplete, `{}`, `{"completion":{"values":[]}}`, Options{}, []Note{{ListMade, "completion"}}},
		"discover": {mcp.MethodDiscover,
			`{"supportedVersions":["x"],"capabilities":{"tools":null,"resources":{"a":null},"vendor":null},"instructions":null}`,
			`{"supportedVersions":["x"],"capabilities":{"resources":{"a":null},"vendor":null}}`, Options{AnySchemaRoot: true}, []Note{{NullDropped, ""}, {NullDropped, ""}}},
		"initialize": {mcp.MethodInitialize,
			`{"instructions":null,"serverInfo":{"name":"s","title":null},"capabilities":{"tools":{},"prompts":null,"vendor":null}}`, `{"serverInfo":{"name":"s"},"capabilities":{"tools":{},"vendor":null}}`, Options{}, []Note{{NullDropped, ""}, {NullDropped, ""}, {NullDropped, ""}}},
		"methods that nobody defines": {"vendor/x", `{"tools":null,"nextCursor":null}`, `{"tools":null,"nextCursor":null}`, Options{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, notes := applied(t, tc.method, tc.in, tc.opts)
			if got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
			if diff := cmp.Diff(tc.notes, notes); diff != "" {
				t.Error(diff)
			}
			again, _ := applied(t, tc.method, got, tc.opts)
			if again != got {
				t.Errorf("a second time: %s", again)
			}
		})
	}
}

// FuzzEdits: whatever a workload answers, the repaired result is JSON, needs no
// second repair, and text without a repair is untouched.
func FuzzEdits(f *testing.F) {
	f.Add(uint8(0), []byte(`{"tools":[ {"name":"a","inputSchema":{}} , {"x":null}, 7 ],"nextCursor":null}`), false)
	f.Add(uint8(1), []byte(`{"prompts":[{"name":"p","arguments":[{"required":null}]}]}`), true)
	f.Add(uint8(5), []byte(`{"structuredContent":[null],"content":[{"annotations":null}]}`), true)
	methods := []string{mcp.MethodToolsList, mcp.MethodPromptsList, mcp.MethodResourcesList, mcp.MethodTemplatesList, mcp.MethodResourcesRead,
		mcp.MethodToolsCall, mcp.MethodPromptsGet, mcp.MethodComplete, mcp.MethodInitialize, mcp.MethodDiscover}
	f.Fuzz(func(t *testing.T, which uint8, raw []byte, modern bool) {
		// What reaches a repair is a member of a scanned message.
		whole := append(append([]byte(`{"result":`), raw...), '}')
		if !strictjson.IsObject(raw) || strictjson.Scan(whole, strictjson.FromClient) != nil {
			t.Skip()
		}
		raw = bytes.TrimSpace(raw)
		method := methods[int(which)%len(methods)]
		o := Options{NoExecution: modern, AnySchemaRoot: modern, TextToo: !modern}
		edits, _ := Edits(method, raw, o)
		if len(edits) == 0 {
			return
		}
		out, err := strictjson.Splice(raw, edits...)
		if err != nil {
			t.Fatalf("%s: %v on %s", method, err, raw)
		}
		if err := strictjson.Scan(out, strictjson.FromClient); err != nil {
			t.Fatalf("%s: %v\nfrom %s\nmade %s", method, err, raw, out)
		}
		if again, _ := Edits(method, out, o); len(again) != 0 {
			t.Fatalf("%s: a second repair of %s", method, out)
		}
	})
}
