package config

// Live is the live contract: limits and policies that change without a
// restart. In ConfigMap `<name>-<8 hex>-live` as gzip JSON under one LiveKey a
// version in binaryData, loaded strictly.
type Live struct {
	Version int     `json:"version"` // LiveVersion, or an older one
	Limits  Limits  `json:"limits"`
	Network Network `json:"network"`
	// Protocol is there since version 2.
	Protocol Protocol `json:"protocol,omitzero"`
}

// As returns what version of the contract says of l: an older one says less.
func (l Live) As(version int) Live {
	l.Version = version
	if version < 2 {
		l.Protocol = Protocol{}
	}
	return l
}

// Protocol is how clients may speak.
type Protocol struct {
	// Revisions are those that are served; empty: all. Sessions keep theirs.
	Revisions []string `json:"revisions,omitempty"`
	// HTTPSSE serves HTTP+SSE on the same URL (P17).
	HTTPSSE bool `json:"httpSSE,omitempty"`
}

// Limits are per pod unless they say otherwise.
type Limits struct {
	// RequestSeconds bounds one client request, waiting included.
	RequestSeconds int `json:"requestSeconds"`
	// MaxBodyBytes bounds one request body.
	MaxBodyBytes int64 `json:"maxBodyBytes"`
	// MaxConcurrentCalls bounds requests in flight.
	MaxConcurrentCalls int `json:"maxConcurrentCalls"`
	// KeepAliveSeconds is the period of SSE keep-alive comments.
	KeepAliveSeconds int `json:"keepAliveSeconds"`
}

// Network is the HTTP edge.
type Network struct {
	// AllowedOrigins are exact origins (scheme://host[:port]) that browsers
	// may call from; empty: requests with an Origin are refused unless local.
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
}
