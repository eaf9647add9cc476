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
		if said := err.Error(); strings.Count(said, want) != 1 || !strings.Contains(said, "(byte ") || !errors.Is(err, parse.Unwrap()) {
			t.Errorf("%.30s: for logs %s", params, said)
		}
	}
}

// Logs say each thing once.
func TestErrorsForLogs(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"a":2}`: "message refused: duplicate member name (byte 7)",
		`{"a":}`:        "body is not valid JSON (byte 5)",
		`{} 1`:          "body is not valid JSON: text after the value (byte 3)",
		`[]`:            "message is not a JSON object",
	} {
		if _, err := jsonrpc.Parse([]byte(text), strictjson.FromClient); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
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
