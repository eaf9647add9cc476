package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// EncodeBoot returns the canonical JSON of b, which goes into BootEnv, and its
// hash, which Status reports. It fails when b is invalid or would not fit.
//
// The hash is `<hash version>-<32 hex>` over that JSON. It changes with every
// byte of b and, by way of its version, whenever the way of hashing changes;
// it is a legal label value.
func EncodeBoot(b Boot) (data []byte, hash string, err error) {
	if err := b.Validate(); err != nil {
		return nil, "", fmt.Errorf("boot config: %w", err)
	}
	data, err = encodeCanonical(b)
	if err != nil {
		return nil, "", fmt.Errorf("boot config: %w", err)
	}
	if len(data) > MaxBootBytes {
		return nil, "", fmt.Errorf("boot config: %w: %d bytes, %d fit", ErrTooLarge, len(data), MaxBootBytes)
	}
	return data, bootHash(data), nil
}

// LoadBoot reads a boot config strictly and validates it. The error names
// every problem found: an *UnknownFieldError, an *InvalidError, ErrTooLarge or
// ErrVersion, or what is wrong with the JSON.
func LoadBoot(data []byte) (b Boot, hash string, err error) {
	if len(data) > MaxBootBytes {
		return Boot{}, "", fmt.Errorf("boot config: %w: %d bytes, %d allowed", ErrTooLarge, len(data), MaxBootBytes)
	}
	if err := decodeStrict(data, &b); err != nil {
		return Boot{}, "", fmt.Errorf("boot config: %w", err)
	}
	if b.Version != BootVersion {
		return Boot{}, "", fmt.Errorf("boot config: %w: %d, this build reads %d", ErrVersion, b.Version, BootVersion)
	}
	if err := b.Validate(); err != nil {
		return Boot{}, "", fmt.Errorf("boot config: %w", err)
	}
	// Hash what is meant, not how it was spelled.
	canonical, err := encodeCanonical(b)
	if err != nil {
		return Boot{}, "", fmt.Errorf("boot config: %w", err)
	}
	return b, bootHash(canonical), nil
}

func bootHash(canonical []byte) string {
	sum := sha256.Sum256(canonical)
	return "1-" + hex.EncodeToString(sum[:16])
}

// Validate reports everything that is wrong with b as an *InvalidError.
func (b Boot) Validate() error {
	var ps problems
	if b.Version != BootVersion {
		ps.addf("version", "must be %d", BootVersion)
	}
	for _, f := range []struct{ path, value string }{
		{"server.namespace", b.Server.Namespace}, {"server.name", b.Server.Name}, {"server.uid", b.Server.UID},
	} {
		if f.value == "" || len(f.value) > 253 {
			ps.addf(f.path, "must have 1 to 253 characters")
		}
	}
	b.Workload.validate(&ps)
	b.Clocks.validate(&ps)
	validateRoots(b.Roots, &ps)
	if len(b.ContractVersions) == 0 || len(b.ContractVersions) > 16 {
		ps.addf("contractVersions", "must list 1 to 16 versions")
	}
	for i, v := range b.ContractVersions {
		if v < 1 || i > 0 && v >= b.ContractVersions[i-1] {
			ps.addf("contractVersions", "must be positive and fall: %v", b.ContractVersions)
			break
		}
	}
	return ps.err()
}

func (w Workload) validate(ps *problems) {
	switch w.Type {
	case WorkloadStdio:
		if w.MCP != nil {
			ps.addf("workload.mcp", "must be absent for type Stdio")
		}
		if w.Stdio == nil {
			ps.addf("workload.stdio", "is required for type Stdio")
			return
		}
		w.Stdio.validate(ps)
	case WorkloadMCP:
		if w.Stdio != nil {
			ps.addf("workload.stdio", "must be absent for type MCP")
		}
		if w.MCP == nil {
			ps.addf("workload.mcp", "is required for type MCP")
			return
		}
		w.MCP.validate(ps)
	default:
		ps.addf("workload.type", "%q is none of Stdio, MCP", clip(string(w.Type)))
	}
}

func (s Stdio) validate(ps *problems) {
	ps.oneOf("workload.stdio.processModel", s.ProcessModel, ProcessPerSession, ProcessShared, ProcessPooled)
	ps.oneOf("workload.stdio.onIdle", s.OnIdle, OnIdleEnd, OnIdleRecreate, "")
	ps.oneOf("workload.stdio.sharedAcrossPrincipals", s.SharedAcrossPrincipals, SharedRefuse, SharedAllow, "")
	ps.oneOf("workload.stdio.leasing", s.Leasing, LeasingAuto, LeasingAlways, LeasingNever, "")
	ps.revision("workload.stdio.revision", s.Revision)
	ps.within("workload.stdio.maxProcesses", int64(s.MaxProcesses), 1, MaxMaxProcesses)
	ps.within("workload.stdio.idleSeconds", int64(s.IdleSeconds), 1, 24*3600)
	ps.within("workload.stdio.startupSeconds", int64(s.StartupSeconds), 1, MaxStartupSeconds)
	ps.within("workload.stdio.maxMessageBytes", int64(s.MaxMessageBytes), MinMaxMessageBytes, MaxMaxMessageBytes)
}

func (m MCP) validate(ps *problems) {
	ps.within("workload.mcp.port", int64(m.Port), 1, 65535)
	if m.Port >= PortsFrom && m.Port <= PortsTo {
		ps.addf("workload.mcp.port", "%d is one of the sidecar's own (%d-%d)", m.Port, PortsFrom, PortsTo)
	}
	ps.revision("workload.mcp.revision", m.Revision)
	if !strings.HasPrefix(m.Path, "/") || len(m.Path) > MaxMCPPath || strings.ContainsAny(m.Path, "?# \t\r\n") ||
		path.Clean(m.Path) != strings.TrimSuffix(m.Path, "/") && m.Path != "/" {
		ps.addf("workload.mcp.path", "%q is not a clean absolute path of at most %d characters", clip(m.Path), MaxMCPPath)
	}
}

func (c Clocks) validate(ps *problems) {
	if c != NewClocks(c.DrainSeconds) {
		ps.addf("clocks", "must be those of NewClocks(drainSeconds) with drainSeconds in 0..%d", MaxDrainSeconds)
	}
}

func validateRoots(roots []Root, ps *problems) {
	if len(roots) > MaxRoots {
		ps.addf("roots", "%d entries, %d allowed", len(roots), MaxRoots)
		return
	}
	for i, r := range roots {
		at := fmt.Sprintf("roots[%d]", i)
		// Every revision says that the URI of a root begins so.
		if !strings.HasPrefix(r.URI, "file://") || len(r.URI) > MaxRootURI {
			ps.addf(at+".uri", "%q is no file:// URI of at most %d characters", clip(r.URI), MaxRootURI)
		}
		if len(r.Name) > MaxRootName {
			ps.addf(at+".name", "has more than %d characters", MaxRootName)
		}
	}
}
