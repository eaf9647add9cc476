package proxy

import (
	"context"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

// lmSession is a client session in front of a workload that knows none.
type lmSession struct{}

func (s *lmSession) close(error) {}

// lmOpen answers initialize in the workload's place (B4.6).
func (p *Proxy) lmOpen(ctx context.Context, _ *dispatch.Exchange, _ dispatch.Session) dispatch.Outcome {
	if _, err := p.cfg.Workload.Conversation(ctx); err != nil {
		return dispatch.Fail(notOpened(ctx, err))
	}
	return dispatch.Fail(internal("the workload's protocol revision is not served", reasonFailed))
}

// lm serves a request of such a session.
func (p *Proxy) lm(context.Context, *dispatch.Exchange, *lmSession) dispatch.Outcome {
	return dispatch.Fail(internal("the workload's protocol revision is not served", reasonFailed))
}
