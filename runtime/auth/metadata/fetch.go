package metadata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
)

// Bounds of one fetch.
const (
	maxDocument  = 256 << 10
	fetchTimeout = 10 * time.Second
	dialTimeout  = 5 * time.Second
)

// ErrAbsent: there is no document at an address. Other errors mean that there
// may be one.
var ErrAbsent = errors.New("metadata: there is no document there")

// Fetcher gets documents. The zero value goes to public addresses by https
// only. It is safe for concurrent use; fields may not change.
type Fetcher struct {
	// Reach is how far inside it may go. With Loopback, http is good enough for
	// this machine itself.
	Reach Reach
	// PlainHTTP lets http be used everywhere: for clusters where the network is
	// what is trusted. The addresses should then come from their owner.
	PlainHTTP bool
	// Transport replaces the transport that Reach is enforced by, which is then
	// its owner's duty; nil makes one.
	Transport http.RoundTripper
}

// Get fetches the document at an address: a JSON object, of a bounded size, in
// bounded time. An answer that is something else is ErrAbsent: sites answer
// unknown paths with redirects and pages of HTML.
func (f *Fetcher) Get(ctx context.Context, address string) ([]byte, error) {
	target, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("metadata: the address of the document is no URL")
	}
	if err := f.may(target); err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, fetchTimeout)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	req.Header.Set("Accept", "application/json")
	resp, err := f.transport().RoundTrip(req) // no redirects, no cookies
	if err != nil {
		return nil, fmt.Errorf("metadata: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, refusedBy(resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("metadata: %w", err)
	case len(raw) > maxDocument:
		return nil, fmt.Errorf("metadata: the document has more than %d bytes", maxDocument)
	case !bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte("{")):
		return nil, ErrAbsent
	}
	return raw, nil
}

// refusedBy classes a status. That somebody should come back later does not
// mean that there is nothing.
func refusedBy(status int) error {
	later := status == http.StatusRequestTimeout || status == http.StatusTooEarly || status == http.StatusTooManyRequests
	if status >= 300 && status < 500 && !later {
		return ErrAbsent
	}
	return fmt.Errorf("metadata: the server of the document answers %d", status)
}

// may judges an address before anything is sent.
func (f *Fetcher) may(target *url.URL) error {
	switch {
	case target.Hostname() == "" || target.User != nil:
		return errors.New("metadata: the address of the document has no host, or a user")
	case target.Scheme == "https":
		return nil
	case target.Scheme == "http" && (f.PlainHTTP || f.Reach == Loopback && IsLoopback(target.Hostname())):
		return nil
	}
	return fmt.Errorf("metadata: %s is not fetched by %q", target.Hostname(), target.Scheme)
}

// IsLoopback tells whether a host's name or address is this machine, by its
// spelling: names that only resolve to it do not count.
func IsLoopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}

func (f *Fetcher) transport() http.RoundTripper {
	if f.Transport != nil {
		return f.Transport
	}
	dialer := &net.Dialer{Timeout: dialTimeout, Control: f.Reach.control}
	return &http.Transport{
		Proxy:                  nil, // a proxy would hide where we go
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: 64 << 10,
		DisableKeepAlives:      true, // documents are fetched once an hour, not a second
	}
}
