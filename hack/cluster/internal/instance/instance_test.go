package instance

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestNewRefusesWhatWouldNotWork(t *testing.T) {
	for name, tc := range map[string]struct {
		name, cache string
		want        string // part of the error, "" for none
	}{
		"an ordinary name":               {"e2e-1", "/src/cache", ""},
		"upper case":                     {"E2E", "/src/cache", EnvName},
		"a path":                         {"../dev", "/src/cache", EnvName},
		"no name":                        {"", "/src/cache", EnvName},
		"a name too long for interfaces": {strings.Repeat("a", 21), "/src/cache", EnvName},
		"state that the node would hide": {"dev", "/var/lib/fairlead", "hides /var/lib"},
		"state in /run itself":           {"dev", "/run", "hides /run"},
		"a folder that only looks alike": {"dev", "/runner/cache", ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.name, "/src", tc.cache)
			if tc.want == "" && err != nil {
				t.Error(err)
			}
			if tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("error %v, want one about %q", err, tc.want)
			}
		})
	}
}

func TestClustersOfTwoClonesDoNotShareACgroup(t *testing.T) {
	a, _ := New("dev", "/a", "/a/.cache")
	b, _ := New("dev", "/b", "/b/.cache")
	if a.Cgroup() == b.Cgroup() {
		t.Errorf("both are %s", a.Cgroup())
	}
	if again, _ := New("dev", "/a", "/a/.cache"); again.Cgroup() != a.Cgroup() {
		t.Error("the name changes from run to run")
	}
}

func TestFindTakesNameAndCacheFromTheEnvironment(t *testing.T) {
	t.Setenv(EnvName, "other")
	t.Setenv(EnvCache, t.TempDir())
	i, err := Find()
	if err != nil {
		t.Fatal(err)
	}
	if i.Name != "other" || i.Cache != os.Getenv(EnvCache) {
		t.Errorf("got %+v", i)
	}
	if _, err := os.Stat(i.Repo + "/go.mod"); err != nil {
		t.Error("the repository was not found from a folder inside it:", err)
	}
}

func TestARecordKnowsItsProcessFromAnotherWithTheSamePID(t *testing.T) {
	r, err := NewRecord(os.Getpid(), "/tools")
	if err != nil {
		t.Fatal(err)
	}
	if !r.Alive() {
		t.Error("this process is not alive")
	}
	r.Start++
	if r.Alive() {
		t.Error("a process that started at another time is taken for it")
	}
}

func TestAnEndedProcessIsNotAlive(t *testing.T) {
	cmd := exec.Command("sleep", "600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r, err := NewRecord(cmd.Process.Pid, "")
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if r.Alive() {
		t.Error("it counts as alive")
	}
}

func TestRecordsAreKeptUntilForgotten(t *testing.T) {
	i, err := New("dev", "/src", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := i.LoadRecord(); !errors.Is(err, ErrNoRecord) {
		t.Errorf("error %v before the first, want ErrNoRecord", err)
	}
	if err := os.MkdirAll(i.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := i.SaveRecord(Record{PID: 7, Start: 9}); err != nil {
		t.Fatal(err)
	}
	if r, err := i.LoadRecord(); err != nil || r.PID != 7 || r.Start != 9 {
		t.Errorf("got %+v, %v", r, err)
	}
	for range 2 {
		if err := i.ForgetRecord(); err != nil {
			t.Error(err)
		}
	}
	if _, err := i.LoadRecord(); !errors.Is(err, ErrNoRecord) {
		t.Errorf("error %v after the last, want ErrNoRecord", err)
	}
}
