package streamable_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/fairlead-dev/fairlead/runtime/dispatch"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(bothWays{m}) }

// bothWays runs every test twice: with handlers on goroutines of their own, and
// on those of the requests (dispatch.Prompt). Nobody can tell by what is served.
type bothWays struct{ m *testing.M }

func (b bothWays) Run() int {
	for _, promptly = range []bool{false, true} {
		if code := b.m.Run(); code != 0 {
			return code
		}
	}
	return 0
}

// promptly is what backends say of every request.
var promptly bool

// Prompt implements dispatch.Prompt.
func (b *backend) Prompt(*dispatch.Exchange) bool { return promptly }
