package dispatch

import "github.com/fairlead-dev/fairlead/runtime/jsonrpc"

// Exchange is one request in flight (D3). Fields are read-only for a Server.
type Exchange struct {
	// Msg is the request as it came.
	Msg *jsonrpc.Message
}
