package streamable_test

import (
	"context"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/auth"
	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/seal"
	"github.com/fairlead-dev/fairlead/runtime/transport/streamable"
)

// P33.8: what a proxy says about a request counts only from a trusted one.
func TestForwardedFields(t *testing.T) {
	keys := &seal.Keyring{}
	if err := keys.LoadEphemeral(); err != nil {
		t.Fatal(err)
	}
	var bucket string
	server := &streamable.Server{Keys: keys, Client: auth.Proxies{netip.MustParsePrefix("10.0.0.0/8")}.Client,
		Handler: &backend{serve: func(_ context.Context, x *dispatch.Exchange) dispatch.Outcome { bucket = x.Bucket(); return done("x") }}}
	for name, tt := range map[string]struct{ remote, forwarded, want string }{
		"a stranger who lies":         {"9.9.9.9:1", "1.2.3.4", "9.9.9.9"},
		"a trusted proxy":             {"10.0.0.7:1", "1.2.3.4", "1.2.3.4"},
		"two trusted proxies":         {"10.0.0.7:1", "6.6.6.6, 1.2.3.4, 10.0.0.8", "1.2.3.4"},
		"a trusted proxy's nonsense":  {"10.0.0.7:1", "evil", "10.0.0.7"},
		"a trusted proxy for itself":  {"10.0.0.7:1", "", "10.0.0.7"},
		"no address that can be read": {"pipe", "1.2.3.4", ""},
	} {
		r := httptest.NewRequest("POST", "/mcp", strings.NewReader(modernCall))
		r.RemoteAddr = tt.remote
		if tt.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tt.forwarded)
		}
		r.Header.Set("Content-Type", "application/json")
		for k, v := range modern("tools/call", "Mcp-Name", "slow") {
			r.Header.Set(k, v)
		}
		server.ServeHTTP(httptest.NewRecorder(), r)
		if bucket != "peer:"+tt.want {
			t.Errorf("%s: %q", name, bucket)
		}
	}
}
