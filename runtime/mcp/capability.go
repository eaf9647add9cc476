package mcp

import (
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// Path is the capability as the names of nested members.
func (c Capability) Path() []string { return strings.Split(string(c), ".") }

// Declared reports whether a raw capabilities object holds the capability. A
// member that is false or null declares nothing; anything else does (unknown
// members are tolerated).
func (c Capability) Declared(capabilities []byte) bool {
	if c == "" {
		return true
	}
	if string(capabilities) == "{}" {
		return false // the usual case, asked for with every request
	}
	value := capabilities
	for name := range strings.SplitSeq(string(c), ".") {
		var ok bool
		if value, ok = strictjson.Get(value, name); !ok {
			return false
		}
	}
	return !strictjson.IsNull(value) && string(value) != "false"
}

// DeclaresExtension reports whether a raw capabilities object declares the
// extension (W5.11).
func DeclaresExtension(capabilities []byte, extension string) bool {
	value, ok := strictjson.GetPath(capabilities, "extensions", extension)
	return ok && !strictjson.IsNull(value)
}

// ElicitationMode reports whether a client that declared these capabilities
// takes elicitations of the mode; an empty declaration means forms (W30.1).
// An empty mode is "form" (W30.3).
func ElicitationMode(capabilities []byte, mode string) bool {
	value, ok := strictjson.Get(capabilities, string(CapElicitation))
	if !ok || !strictjson.IsObject(value) {
		return false
	}
	if mode == "" {
		mode = "form"
	}
	if _, ok := strictjson.Get(value, mode); ok {
		return true
	}
	_, url := strictjson.Get(value, "url")
	return mode == "form" && !url
}
