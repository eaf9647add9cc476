package config

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// LiveKey is the ConfigMap key, and so the file name in LiveDir, that holds
// the live contract of one version. Each version has its own, so a newer
// operator never strands an older sidecar (O1).
func LiveKey(version int) string { return "v" + strconv.Itoa(version) + ".json.gz" }

// EncodeLive returns l as the value of LiveKey(l.Version) in binaryData, and
// the digest that a sidecar reports once it runs with it. Equal input gives
// equal bytes. The digest is over the JSON, so it survives another compressor.
func EncodeLive(l Live) (gz []byte, digest string, err error) {
	if err := l.Validate(); err != nil {
		return nil, "", fmt.Errorf("live contract: %w", err)
	}
	raw, err := encodeCanonical(l)
	if err != nil {
		return nil, "", fmt.Errorf("live contract: %w", err)
	}
	if len(raw) > MaxLiveRawBytes {
		return nil, "", fmt.Errorf("live contract: %w: %d bytes unpacked, %d fit", ErrTooLarge, len(raw), MaxLiveRawBytes)
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // no name, no time: deterministic
	if _, err := w.Write(raw); err != nil {
		return nil, "", fmt.Errorf("live contract: %w", err)
	}
	if err := w.Close(); err != nil {
		return nil, "", fmt.Errorf("live contract: %w", err)
	}
	if b.Len() > MaxLiveBytes {
		return nil, "", fmt.Errorf("live contract: %w: %d bytes packed, %d fit", ErrTooLarge, b.Len(), MaxLiveBytes)
	}
	return b.Bytes(), liveDigest(raw), nil
}

// DecodeLive reads what EncodeLive wrote, strictly and within its bounds
// whatever the bytes unpack to. Errors are as for LoadBoot.
func DecodeLive(gz []byte) (l Live, digest string, err error) {
	raw, err := unpack(gz)
	if err != nil {
		return Live{}, "", fmt.Errorf("live contract: %w", err)
	}
	if err := decodeStrict(raw, &l); err != nil {
		return Live{}, "", fmt.Errorf("live contract: %w", err)
	}
	if !slices.Contains(ContractVersions(), l.Version) {
		return Live{}, "", fmt.Errorf("live contract: %w: %d, this build reads %v", ErrVersion, l.Version, ContractVersions())
	}
	if err := l.Validate(); err != nil {
		return Live{}, "", fmt.Errorf("live contract: %w", err)
	}
	return l, liveDigest(raw), nil
}

func unpack(gz []byte) ([]byte, error) {
	if len(gz) > MaxLiveBytes {
		return nil, fmt.Errorf("%w: %d bytes packed, %d allowed", ErrTooLarge, len(gz), MaxLiveBytes)
	}
	in := bytes.NewReader(gz)
	r, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	r.Multistream(false) // one file, and nothing hidden behind it
	raw, err := io.ReadAll(io.LimitReader(r, MaxLiveRawBytes+1))
	switch {
	case err != nil:
		return nil, err
	case len(raw) > MaxLiveRawBytes:
		return nil, fmt.Errorf("%w: more than %d bytes unpacked", ErrTooLarge, MaxLiveRawBytes)
	case in.Len() > 0:
		return nil, errors.New("data after the gzip stream")
	}
	return raw, nil
}

func liveDigest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// Validate reports everything that is wrong with l as an *InvalidError.
func (l Live) Validate() error {
	var ps problems
	if !slices.Contains(ContractVersions(), l.Version) {
		ps.addf("version", "must be one of %v", ContractVersions())
	}
	ps.within("limits.requestSeconds", int64(l.Limits.RequestSeconds), 1, MaxRequestSeconds)
	ps.within("limits.maxBodyBytes", l.Limits.MaxBodyBytes, MinMaxBodyBytes, MaxMaxBodyBytes)
	ps.within("limits.maxConcurrentCalls", int64(l.Limits.MaxConcurrentCalls), 1, MaxMaxConcurrentCalls)
	ps.within("limits.keepAliveSeconds", int64(l.Limits.KeepAliveSeconds), 1, MaxKeepAliveSeconds)
	l.Network.validate(&ps)
	l.Protocol.validate(&ps)
	if l.Version < 2 && (l.Protocol.HTTPSSE || len(l.Protocol.Revisions) > 0) {
		ps.addf("protocol", "needs version 2")
	}
	return ps.err()
}

func (n Network) validate(ps *problems) {
	if k := len(n.AllowedOrigins); k > MaxAllowedOrigins {
		ps.addf("network.allowedOrigins", "%d entries, %d allowed", k, MaxAllowedOrigins)
		return
	}
	for i, o := range n.AllowedOrigins {
		if !validOrigin(o) {
			ps.addf(fmt.Sprintf("network.allowedOrigins[%d]", i), "%q is not scheme://host[:port]", clip(o))
		}
	}
}

// validate leaves it to the front which revisions there are: one that it does
// not know it does not serve, so an older sidecar can read what a newer
// operator writes.
func (p Protocol) validate(ps *problems) {
	if n := len(p.Revisions); n > MaxRevisions {
		ps.addf("protocol.revisions", "%d entries, %d allowed", n, MaxRevisions)
		return
	}
	for i, r := range p.Revisions {
		if !validRevision(r) {
			ps.addf(fmt.Sprintf("protocol.revisions[%d]", i), "%q is no revision such as 2026-07-28", clip(r))
		}
	}
}

// validOrigin accepts what a browser can send as Origin, in its own spelling:
// lower case, no path, no user.
func validOrigin(o string) bool {
	if o == "" || len(o) > MaxOriginLength || o != strings.ToLower(o) {
		return false
	}
	u, err := url.Parse(o)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil && u.Opaque == "" && u.Hostname() != "" &&
		!strings.ContainsAny(u.Host, "*, ") && o == u.Scheme+"://"+u.Host
}
