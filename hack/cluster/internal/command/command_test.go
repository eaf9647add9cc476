package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/hack/cluster/internal/host"
	"github.com/fairlead-dev/fairlead/hack/cluster/internal/instance"
)

func TestQuotedValuesSurviveAShell(t *testing.T) {
	for _, value := range []string{"plain", "two words", "it's", `$HOME "and" \n`, ""} {
		out, err := exec.Command("sh", "-c", "printf %s "+quote(value)).Output()
		if err != nil || string(out) != value {
			t.Errorf("%q came back as %q (%v)", value, out, err)
		}
	}
}

func TestStatusOfAStoppedClusterStillSaysWhereThingsAre(t *testing.T) {
	i, err := instance.New("test", "/src", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	h := host.Host{Instance: i, Log: &bytes.Buffer{}}
	var text, data bytes.Buffer
	if err := status(t.Context(), h, "", &text); !errors.Is(err, host.ErrNotRunning) {
		t.Errorf("error %v: scripts could not tell that it is down", err)
	}
	if !strings.Contains(text.String(), "stopped") || !strings.Contains(text.String(), i.AuditLog()) {
		t.Errorf("got %s", text.String())
	}
	_ = status(t.Context(), h, "json", &data)
	var rep report
	if err := json.Unmarshal(data.Bytes(), &rep); err != nil {
		t.Fatal(err)
	}
	if rep.Running || rep.AuditLog != i.AuditLog() || rep.Cgroup != i.Cgroup() {
		t.Errorf("got %+v", rep)
	}
}

func TestUnknownCommandsFail(t *testing.T) {
	if code := Main([]string{"no-such-command"}); code == 0 {
		t.Error("exit 0")
	}
}
