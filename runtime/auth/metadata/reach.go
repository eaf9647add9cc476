package metadata

import (
	"fmt"
	"net/netip"
	"syscall"
)

// Reach is how far inside a network an address is. Whoever follows the word of
// a server at one address may go to addresses that are not further inside: a
// public server has no business to send anybody to a private address, and only
// one on this machine may point to this machine.
type Reach uint8

// The reaches, from the outside to the inside. The zero value is the strictest.
const (
	Public Reach = iota
	Private
	Loopback
	// Nowhere is where no request goes: link-local (with the metadata services
	// of clouds), multicast, unspecified and other addresses of no host.
	Nowhere
)

func prefixes(texts ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(texts))
	for i, t := range texts {
		out[i] = netip.MustParsePrefix(t)
	}
	return out
}

// These are read only.
var (
	nowhere = prefixes("0.0.0.0/8", "240.0.0.0/4", "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24",
		"100::/64", "2001:db8::/32", "2001::/32", "fec0::/10", "fd00:ec2::254/128")
	inside = prefixes("100.64.0.0/10", "198.18.0.0/15")
	// translated prefixes hold an IPv4 address at the byte of the same index.
	translated = prefixes("64:ff9b::/96", "2002::/16", "::/96")
	embedded   = []int{12, 2, 12}
	localNAT   = netip.MustParsePrefix("64:ff9b:1::/48")
)

// ReachOf classes an address, also one that hides an IPv4 address.
func ReachOf(addr netip.Addr) Reach {
	addr = addr.Unmap().WithZone("")
	if !addr.IsValid() || addr.IsUnspecified() || addr.IsMulticast() || addr.IsLinkLocalUnicast() || in(nowhere, addr) || localNAT.Contains(addr) {
		return Nowhere
	}
	if addr.IsLoopback() {
		return Loopback
	}
	for i, p := range translated {
		if p.Contains(addr) {
			raw := addr.As16()
			return ReachOf(netip.AddrFrom4([4]byte(raw[embedded[i] : embedded[i]+4])))
		}
	}
	if addr.IsPrivate() || in(inside, addr) {
		return Private
	}
	return Public
}

func in(list []netip.Prefix, addr netip.Addr) bool {
	for _, p := range list {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// control is called with the address that is about to be dialled, after the
// name was resolved, so that a name with two faces gains nothing.
func (limit Reach) control(_, address string, _ syscall.RawConn) error {
	where, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("metadata: cannot tell where %q is", address)
	}
	if reach := ReachOf(where.Addr()); reach > min(limit, Loopback) {
		return &BlockedError{Addr: where.Addr()}
	}
	return nil
}

// BlockedError: a document was said to be where nobody may send us.
type BlockedError struct{ Addr netip.Addr }

// Error implements error.
func (e *BlockedError) Error() string {
	return fmt.Sprintf("metadata: %s is further inside than the server that points to it", e.Addr)
}
