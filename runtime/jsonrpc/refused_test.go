package jsonrpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/jsonrpc"
	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// P8: who sends JSON that is refused is told why, and nothing of the message.
func TestRefusedJSONSaysWhy(t *testing.T) {
	for params, want := range map[string]string{
		`{"secret":1,"secret":2}`: strictjson.ErrDuplicate.Error(),
		`{"a":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`: strictjson.ErrDepth.Error(),
		`{` + members(strictjson.MaxMembers+1) + `}`:                          strictjson.ErrMembers.Error(),
	} {
		_, err := jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":`+params+`}`), strictjson.FromClient)
		var parse *jsonrpc.ParseError
		if !errors.As(err, &parse) {
			t.Fatalf("%.30s: %v", params, err)
		}
		if said := parse.RPC().Message; !strings.Contains(said, want) || strings.Contains(said, "secret") {
			t.Errorf("%.30s: %s, want %s", params, said, want)
		}
	}
}

func members(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`"k%d":0`, i)
	}
	return strings.Join(all, ",")
}
