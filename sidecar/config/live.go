package config

// Live is the live contract: limits and policies that change without a
// restart. In ConfigMap `<name>-<8 hex>-live` as gzip JSON under LiveKey(1) in
// binaryData, loaded strictly.
type Live struct {
	Version int     `json:"version"` // 1
	Limits  Limits  `json:"limits"`
	Network Network `json:"network"`
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
