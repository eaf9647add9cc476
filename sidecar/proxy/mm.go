package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

// mm serves a request that carries its own metadata on a workload that wants
// it so.
func (p *Proxy) mm(ctx context.Context, _ *dispatch.Exchange) dispatch.Outcome {
	if _, err := p.cfg.Workload.Conversation(ctx); err != nil {
		return dispatch.Fail(notOpened(ctx, err))
	}
	return dispatch.Fail(internal("the workload's protocol revision is not served", reasonFailed))
}
