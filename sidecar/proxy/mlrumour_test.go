package proxy_test

import "testing"

// What a call that was ended says afterwards costs the next one nothing and is
// not told to its client, also where no client can be asked.
func TestACallThatWasEndedSpeaksForNobody(t *testing.T) { // B6.1, B7.15, B11.1, B19.4
	const question = `{"jsonrpc":"2.0","id":"$NTH$ID","method":"elicitation/create","params":{}}`
	const log = `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"of another"}}`
	for name, caps := range map[string]string{"nobody can be asked": `{}`, "something else can be asked": `{"sampling":{}}`} {
		t.Run(name, func(t *testing.T) {
			r := serve(t, plain(script{
				"tools/call:ended":        {question},
				"tools/call:next":         {question, log, `{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}`},
				"response":                {},
				"notifications/cancelled": {},
				"ping":                    {}, // it has not read yet that the first one is over
			}))
			c := r.declaring(caps)
			if res := c.request("1", "tools/call", `{"name":"ended"}`).rest(); res.status != 400 {
				t.Fatalf("%d %v", res.status, res.messages)
			}
			res := c.request("2", "tools/call", `{"name":"next","_meta":{"io.modelcontextprotocol/logLevel":"debug"}}`).rest()
			if len(res.messages) != 1 || res.status != 200 {
				t.Errorf("%d %v", res.status, res.messages)
			}
		})
	}
}
