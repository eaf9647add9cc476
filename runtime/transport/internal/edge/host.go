package edge

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/hook"
	"github.com/fairlead-dev/fairlead/runtime/internal/broken"
)

// exposed are the fields of an answer that scripts of other sites may read.
const exposed = "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After"

// Admit checks Host, Origin and the query. An allowed origin gets its CORS
// fields in h here, so that errors carry them too (R21).
func Admit(h http.Header, r *http.Request, allowedOrigins []string) *Denial {
	local := onLoopback(r)
	if local && !localHost(r.Host) && !broken.Rule("W17.4") {
		return deny(http.StatusForbidden, hook.RejectHost, "host not allowed")
	}
	if denial := origin(h, r, allowedOrigins, local); denial != nil {
		return denial
	}
	if strings.Contains(r.URL.RawQuery, "access_token") {
		return deny(http.StatusBadRequest, hook.RejectAuth, "no tokens in the query")
	}
	return nil
}

// Repeated returns the name of a field that came twice and is one of names, or
// begins with prefix if that is not empty.
func Repeated(h http.Header, names []string, prefix string) (name string, twice bool) {
	for name, values := range h {
		if len(values) > 1 && !broken.Rule("W15.3") && (slices.Contains(names, name) || prefix != "" && strings.HasPrefix(name, prefix)) {
			return name, true
		}
	}
	return "", false
}

// origin refuses browsers of other sites.
func origin(h http.Header, r *http.Request, allowed []string, local bool) *Denial {
	values := r.Header["Origin"]
	if len(values) == 0 {
		return nil
	}
	if (len(values) > 1 || !originAllowed(values[0], allowed, local)) && !broken.Rule("W17.1") {
		return deny(http.StatusForbidden, hook.RejectOrigin, "origin not allowed")
	}
	h.Set("Access-Control-Allow-Origin", values[0])
	h.Set("Access-Control-Expose-Headers", exposed)
	h.Add("Vary", "Origin")
	return nil
}

func originAllowed(origin string, allowed []string, local bool) bool {
	scheme, host, ok := splitOrigin(origin)
	if !ok {
		return false
	}
	for _, one := range allowed {
		if s, h, ok := splitOrigin(one); ok && s == scheme && h == host {
			return true
		}
	}
	return local && localHost(host)
}

// splitOrigin takes an origin apart exactly: lower-case scheme and host with
// its port written out. Anything that is more than an origin is none.
func splitOrigin(origin string) (scheme, hostport string, ok bool) {
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" ||
		strings.HasSuffix(origin, "#") || strings.HasSuffix(origin, "?") {
		return "", "", false
	}
	scheme = strings.ToLower(u.Scheme)
	port := u.Port()
	if port == "" {
		switch scheme {
		case "http":
			port = "80"
		case "https":
			port = "443"
		}
	}
	return scheme, net.JoinHostPort(strings.ToLower(u.Hostname()), port), true
}

// onLoopback reports whether the connection came in on a loopback address.
func onLoopback(r *http.Request) bool {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	tcp, ok := addr.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// localHost reports whether host[:port] names this machine literally. The name
// is parsed, never matched by prefix.
func localHost(hostport string) bool {
	if addr, err := netip.ParseAddrPort(hostport); err == nil {
		return loopback(addr.Addr())
	}
	host := hostport
	if h, port, err := net.SplitHostPort(hostport); err == nil {
		if !digits(port) {
			return false
		}
		host = h
	} else if h, ok := strings.CutPrefix(hostport, "["); ok {
		host, ok = strings.CutSuffix(h, "]")
		if !ok {
			return false
		}
	}
	if strings.HasPrefix(hostport, "[") && !strings.Contains(host, ":") {
		return false // brackets are for IPv6 addresses
	}
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && loopback(addr)
}

func loopback(addr netip.Addr) bool { return addr.Zone() == "" && addr.Unmap().IsLoopback() }

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}
