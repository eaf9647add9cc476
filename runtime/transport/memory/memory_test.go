package memory_test

import (
	"testing"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
	"github.com/fairlead-dev/fairlead/runtime/mcptest"
	"github.com/fairlead-dev/fairlead/runtime/transport/duplex/duplextest"
	"github.com/fairlead-dev/fairlead/runtime/transport/memory"
)

func start(t testing.TB, server dispatch.Server, o duplextest.Options) *mcptest.Raw {
	return mcptest.Memory(t, server, memory.Options{
		Instance: o.Instance, MaxMessageBytes: o.MaxMessageBytes, QueueMessages: o.QueueMessages,
		RequestTimeout: o.RequestTimeout, MaxConcurrent: o.MaxConcurrent, DrainTime: o.DrainTime,
	})
}

func TestServe(t *testing.T) { duplextest.Run(t, start) }
