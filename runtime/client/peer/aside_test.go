package peer

import "testing"

// B11.7, R5: what is asked aside is nobody's call: a broken answer belongs to the
// only call beside it, and it counts as no work.
func TestWhatIsAskedAside(t *testing.T) {
	bubble(t, Config{}, func(t *testing.T, s *server) {
		call := s.call(t.Context(), req("tools/call", `{}`))
		s.read()
		_, newest := s.Waiting(0)
		aside := req("ping", "")
		aside.Aside = true
		sign := s.call(t.Context(), aside)
		s.read()
		later := s.call(t.Context(), req("tools/list", ""))
		s.read()
		if all, _ := s.Waiting(0); len(all) != 2 {
			t.Errorf("waiting: %+v", all)
		}
		if before, _ := s.Waiting(newest); len(before) != 1 || before[0].Method != "tools/call" || string(before[0].Params) != `{}` {
			t.Errorf("waiting of before: %+v", before)
		}
		s.say(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		later.wantResult(t, `{}`)
		s.say(`{"jsonrpc":"2.0","result":{"truncat`)
		call.wantReason(t, BadResponse)
		s.say(`{"jsonrpc":"2.0","id":2,"result":{}}`)
		sign.wantResult(t, `{}`)
	})
}
