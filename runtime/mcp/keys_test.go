package mcp_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

var (
	keyLabel = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$`)
	keyName  = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?$`)
)

// legalKey is the syntax of _meta keys and extension identifiers.
func legalKey(key string) bool {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		return keyName.MatchString(key)
	}
	return keyName.MatchString(name) && !slices.ContainsFunc(strings.Split(prefix, "."), func(label string) bool {
		return !keyLabel.MatchString(label)
	})
}

// W6.1, W5.11: every key that we write is a legal one.
func TestKeysAreLegal(t *testing.T) {
	for _, key := range []string{
		mcp.MetaProtocolVersion, mcp.MetaClientInfo, mcp.MetaClientCapabilities, mcp.MetaLogLevel, mcp.MetaServerInfo,
		mcp.MetaSubscriptionID, mcp.MetaRelatedTask, mcp.MetaModelImmediateResponse, mcp.ExtensionTasks,
		mcp.VendorPrefix + "inputKey",
	} {
		if !legalKey(key) {
			t.Errorf("%q is no legal key", key)
		}
	}
	for _, key := range []string{"1a.b/c", "a./c", "a.-b/c", "a/-c", "a/c-"} {
		if legalKey(key) {
			t.Errorf("%q passes for a legal key: the check is broken", key)
		}
	}
}

// W6.2, W6.3: our own prefix is a reverse domain name and reserved under no
// revision: not by its second label (2025-11-25 on), and not by a label
// `mcp` or `modelcontextprotocol` that another one follows (2025-06-18).
func TestOurPrefixIsNotReserved(t *testing.T) {
	labels := strings.Split(strings.TrimSuffix(mcp.VendorPrefix, "/"), ".")
	if len(labels) < 2 || !strings.HasSuffix(mcp.VendorPrefix, "/") {
		t.Fatalf("%q is no reverse domain name", mcp.VendorPrefix)
	}
	for i, label := range labels {
		if label == "mcp" || label == "modelcontextprotocol" {
			t.Errorf("label %d of %q makes it reserved", i+1, mcp.VendorPrefix)
		}
	}
}
