package proxy

import (
	"crypto/sha256"
	"maps"
	"strconv"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/client/peer"
	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
)

// Clients choose what is remembered of them; however many they are, its size is
// bounded and told.
func TestWhatIsRememberedIsBounded(t *testing.T) {
	p := &Proxy{}
	fill := func(n int) {
		for i := range n {
			text := strconv.Itoa(i)
			p.found.put(text, sha256.Sum256([]byte(text)), []byte(`{"ttlMs":1000000,"cacheScope":"private"}`))
			p.parking.inits.put(text, &peer.Init{})
			p.parking.habits.wasSilent(text)
			p.parking.habits.wasMixed(text)
			p.tools.learn(text, []byte(`{"tools":[{"name":"a"}]}`))
			p.parking.outings.begin([]byte(text), &jsonrpc.Error{Data: []byte(`{"elicitations":[{"elicitationId":"e"}]}`)})
		}
	}
	fill(3)
	want := map[string]int{"discover_answers": 3, "initialize_answers": 3, "call_habits": 6, "tool_lists": 3, "page_visits": 3}
	if got := p.Remembered(); !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	fill(2*maxHabit + 1)
	most := map[string]int{"discover_answers": maxDiscovered, "initialize_answers": maxInits, "call_habits": 2 * maxHabit, "tool_lists": maxToolSets, "page_visits": maxOutings}
	for what, n := range p.Remembered() {
		if n > most[what] || n == 0 {
			t.Errorf("%d of %s, want %d at most", n, what, most[what])
		}
	}
}
