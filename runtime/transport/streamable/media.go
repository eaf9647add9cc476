package streamable

import (
	"net/http"

	"github.com/fairlead-dev/fairlead/runtime/transport/internal/edge"
)

// accepts is what the client takes (R1).
type accepts struct{ json, stream bool }

func accept(h http.Header) accepts {
	a := edge.Accept(h)
	return accepts{json: a.JSON, stream: a.Stream}
}
