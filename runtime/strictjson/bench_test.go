package strictjson_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

const legacyCall = `{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"get_weather_forecast","arguments":{"city":"Berlin","units":"metric","days":3,"detailed":true},"_meta":{"progressToken":"token-0001"}}}`

const modernCall = `{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"get_weather_forecast","arguments":{"city":"Berlin","units":"metric"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}},"roots":{}},"io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1.0.0"},"progressToken":1}}}`

func manyKeys(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"key_%d":%d`, i, i)
	}
	b.WriteByte('}')
	return b.String()
}

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string]string{
		"legacy 200 bytes": legacyCall, "modern envelope": modernCall, "1000 keys": manyKeys(1000),
	} {
		for policyName, policy := range map[string]strictjson.Policy{"client": strictjson.FromClient, "workload": strictjson.FromWorkload} {
			b.Run(name+"/"+policyName, func(b *testing.B) {
				data := []byte(text)
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				for b.Loop() {
					if err := strictjson.Scan(data, policy); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
