package auth

import (
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks whose forwarding headers are believed. The zero
// value believes nobody's.
type Proxies []netip.Prefix

// maxHops bounds how many proxies are followed back.
const maxHops = 32

// Client returns the address that a request came from: that of the connection,
// or, where a trusted proxy made the connection, the last address of
// X-Forwarded-For that no trusted proxy wrote about another (P33.8). What stands
// further left was written by strangers. The zero Addr when it cannot be told.
func (p Proxies) Client(r *http.Request) netip.Addr {
	addr := parseAddr(r.RemoteAddr)
	if !p.trust(addr) {
		return addr
	}
	var hops []string
	for _, value := range r.Header["X-Forwarded-For"] {
		hops = append(hops, strings.Split(value, ",")...)
	}
	slices.Reverse(hops)
	for i, hop := range hops {
		next := parseAddr(strings.TrimSpace(hop))
		if !next.IsValid() || i == maxHops {
			return addr // a trusted proxy wrote nonsense: it stands for it
		}
		if addr = next; !p.trust(addr) {
			return addr
		}
	}
	return addr
}

func (p Proxies) trust(addr netip.Addr) bool {
	return addr.IsValid() && slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(addr) })
}

// parseAddr reads an address with or without a port; zones are dropped, and
// IPv4 in IPv6 becomes IPv4.
func parseAddr(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	addr, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		return netip.Addr{}
	}
	return addr.Unmap().WithZone("")
}

// Bucket names whom limits count a request for: the principal, or for anonymous
// callers where they come from (P22), an IPv6 network of 64 bits being one
// place. The names of the two kinds never meet.
func Bucket(id *Identity, addr netip.Addr) string {
	if id != nil {
		return "principal:" + id.Principal
	}
	if !addr.IsValid() {
		return "peer:"
	}
	if addr.Is6() {
		if net, err := addr.Prefix(64); err == nil {
			return "peer:" + net.String()
		}
	}
	return "peer:" + addr.String()
}
