package edge

import (
	"mime"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

// What is taken for this machine is a loopback address or the one name, whoever
// parses it (W17.4, P33.9).
func FuzzLocalHost(f *testing.F) {
	for _, seed := range []string{"localhost", "LOCALHOST:80", "localhost.", "127.0.0.1:1", "[::1]:2", "[::ffff:127.0.0.1]", "::1", "127.0.0.1.evil", "[::1%lo]", "localhost:80:90", "[localhost]", "0x7f.1", "localhost\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		if !localHost(host) {
			return
		}
		u, err := url.Parse("http://" + host + "/")
		if err != nil {
			if addr, err := netip.ParseAddr(host); err == nil && addr.IsLoopback() {
				return // an IPv6 address without brackets, which no URL can hold
			}
			t.Fatalf("%q is local, but no host: %v", host, err)
		}
		name := strings.TrimSuffix(strings.ToLower(u.Hostname()), ".")
		if addr, err := netip.ParseAddr(name); err == nil {
			if !addr.Unmap().IsLoopback() {
				t.Fatalf("%q is %v", host, addr)
			}
			return
		}
		if name != "localhost" {
			if addr, err := netip.ParseAddr(host); err == nil && addr.Unmap().IsLoopback() {
				return
			}
			t.Fatalf("%q is %q", host, name)
		}
	})
}

// An origin is allowed when it is one that was listed, and nothing that only
// looks like it (W17.1).
func FuzzOrigin(f *testing.F) {
	for _, seed := range []string{"https://ok.example", "HTTPS://OK.EXAMPLE:443", "https://ok.example.", "https://ok.example@evil", "https://ok.example:443:443", "null", "https://ok.example/", "https://ok.example#", "https://ok.example\t"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, origin string) {
		if !originAllowed(origin, []string{"https://ok.example"}, false) {
			return
		}
		switch strings.ToLower(origin) {
		case "https://ok.example", "https://ok.example:443", "https://ok.example:":
		default:
			t.Fatalf("%q is allowed", origin)
		}
	})
}

// Whatever stands in Accept and Content-Type: nothing panics, and only JSON is
// taken for JSON.
func FuzzMedia(f *testing.F) {
	for _, seed := range []string{"application/json", "application/json;charset=\"UTF-8\"", "*/*;q=0", "text/event-stream, application/json;q=0.5", "a/b;q=1e9", ";;;", "application/json;charset=utf-16", ",", "*/json"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, field string) {
		_ = Accept(http.Header{"Accept": {field}})
		if MediaType(http.Header{"Content-Type": {field}}) != nil {
			return
		}
		media, params, err := mime.ParseMediaType(field)
		if err != nil || media != "application/json" || params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8") {
			t.Fatalf("%q is taken", field)
		}
	})
}
