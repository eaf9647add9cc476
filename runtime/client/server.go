package client

import (
	"encoding/json"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
)

// Server is what the server said about itself.
type Server struct {
	// Name, Title and Version are its own words.
	Name, Title, Version string
	// Instructions are meant for a model.
	Instructions string
	// Capabilities is the raw object, `{}` when there was none.
	Capabilities json.RawMessage
	// Raw is the whole answer to initialize or server/discover.
	Raw json.RawMessage
}

// Has reports whether the server declared a capability.
func (s Server) Has(c mcp.Capability) bool { return c.Declared(s.Capabilities) }

// HasExtension reports whether the server declared an extension.
func (s Server) HasExtension(id string) bool { return mcp.DeclaresExtension(s.Capabilities, id) }

// described reads an answer to initialize or server/discover; info is where
// that revision keeps the server's identity.
func described(raw, info []byte) Server {
	s := Server{
		Name:         text(info, "name"),
		Title:        text(info, "title"),
		Version:      text(info, "version"),
		Instructions: text(raw, "instructions"),
		Capabilities: member(raw, "capabilities"),
		Raw:          raw,
	}
	if s.Capabilities == nil {
		s.Capabilities = json.RawMessage("{}")
	}
	return s
}
