package streamable

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/hook"
)

// Header names in their canonical form.
const (
	headerSession   = "Mcp-Session-Id"
	headerVersion   = "Mcp-Protocol-Version"
	headerMethod    = "Mcp-Method"
	headerName      = "Mcp-Name"
	headerLastEvent = "Last-Event-Id"
	prefixParam     = "Mcp-Param-"
)

// single are the fields that decide something and may come only once (P33.6).
var single = []string{headerSession, headerVersion, headerMethod, headerName, headerLastEvent, "Content-Type", "Content-Encoding", "Authorization"}

// edge checks what is decided before anything is read: Host and Origin (W17),
// fields that come twice, tokens in the query (W38.3).
func (q *request) edge() *refusal {
	local := onLoopback(q.r)
	if local && !localHost(q.r.Host) {
		return invalid(http.StatusForbidden, hook.RejectHost, "host not allowed").closing()
	}
	if refusal := q.origin(local); refusal != nil {
		return refusal
	}
	for name, values := range q.r.Header {
		if len(values) > 1 && (slices.Contains(single, name) || strings.HasPrefix(name, prefixParam)) {
			return q.repeated(name)
		}
	}
	if strings.Contains(q.r.URL.RawQuery, "access_token") {
		return invalid(http.StatusBadRequest, hook.RejectAuth, "no tokens in the query").closing()
	}
	return nil
}

// origin refuses browsers of other sites. An allowed origin gets its CORS
// fields here, so that errors carry them too (R21).
func (q *request) origin(local bool) *refusal {
	values := q.r.Header["Origin"]
	if len(values) == 0 {
		return nil
	}
	origin := values[0]
	if len(values) > 1 || !q.originAllowed(origin, local) {
		return invalid(http.StatusForbidden, hook.RejectOrigin, "origin not allowed").closing()
	}
	h := q.w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate, Retry-After")
	h.Add("Vary", "Origin")
	return nil
}

func (q *request) originAllowed(origin string, local bool) bool {
	scheme, host, ok := splitOrigin(origin)
	if !ok {
		return false
	}
	for _, allowed := range q.settings.AllowedOrigins {
		if s, h, ok := splitOrigin(allowed); ok && s == scheme && h == host {
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
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Zone() == "" && addr.Unmap().IsLoopback()
}

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return true
}

// allowedHeaders are what browsers may send; Mcp-Param-* besides (P33.3).
var allowedHeaders = []string{"accept", "authorization", "content-type", "last-event-id", "mcp-method", "mcp-name", "mcp-protocol-version", "mcp-session-id", "traceparent", "tracestate", "baggage"}

// preflight answers OPTIONS, before authentication (P34). An origin that is
// not allowed has been refused by now.
func (q *request) preflight() {
	h := q.w.Header()
	h.Set("Allow", "POST, GET, DELETE, OPTIONS")
	if q.r.Header.Get("Origin") != "" {
		h.Set("Access-Control-Allow-Methods", "POST, GET, DELETE, OPTIONS")
		h.Set("Access-Control-Max-Age", "600")
		var names []string
		for _, name := range strings.Split(q.r.Header.Get("Access-Control-Request-Headers"), ",") {
			name = strings.ToLower(strings.TrimSpace(name))
			if slices.Contains(allowedHeaders, name) || strings.HasPrefix(name, "mcp-param-") && token(name) {
				names = append(names, name)
			}
		}
		if names != nil {
			h.Set("Access-Control-Allow-Headers", strings.Join(names, ", "))
		}
		h.Add("Vary", "Access-Control-Request-Headers")
	}
	q.finishHead()
	q.w.WriteHeader(http.StatusNoContent)
}

// token reports whether text is an RFC 9110 token.
func token(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return false
		}
	}
	return text != ""
}
