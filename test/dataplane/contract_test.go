package dataplane

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/fairlead-dev/fairlead/sidecar/config"
)

// A live contract with a member that this sidecar does not know changes
// nothing, and the pod says so (O28: on the binary).
func TestAnUnknownFieldKeepsTheLastGoodContract(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	c := p.legacy("2025-06-18")
	before := p.status()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(`{"version":1,"limits":{"requestSeconds":1,"maxBodyBytes":4096,"maxConcurrentCalls":1,"keepAliveSeconds":1,"colour":"red"},"network":{}}`))
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	p.put("live", config.LiveKey(config.LiveVersion), b.Bytes())
	eventually(t, "status says so", func() bool { return strings.Contains(p.status().LiveError, `unknown field "limits.colour"`) })
	if s := p.status(); s.LiveDigest != before.LiveDigest || !s.Ready {
		t.Errorf("status %+v", s)
	}
	c.must(c.call("echo", `{"text":"`+strings.Repeat("x", 8<<10)+`"}`)) // over the bad file's limit
	eventually(t, "it is counted", func() bool { return p.metric("fairlead_live_contract_errors_total", "") == 1 })

	l := config.DefaultLive()
	l.Limits.MaxBodyBytes = 4096
	l.Network.AllowedOrigins = []string{"https://app.example"}
	digest := p.putLive(l)
	eventually(t, "the repaired one is in force", func() bool { return p.status().LiveDigest == digest })
	if s := p.status(); s.LiveError != "" {
		t.Errorf("error %q after the repair", s.LiveError)
	}
	if r := c.call("echo", `{"text":"`+strings.Repeat("x", 8<<10)+`"}`); r.status != 413 {
		t.Errorf("over the new limit: %v", r)
	}
	if r := c.send(`{"jsonrpc":"2.0","id":77,"method":"ping"}`, map[string]string{"Origin": "https://app.example"}); r.status != 200 || r.header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("the allowed origin: %v %v", r, r.header)
	}
}

func TestNothingIsServedBeforeTheFirstContract(t *testing.T) {
	t.Parallel()
	s := config.DefaultStdio()
	p := newPod(t, config.Workload{Type: config.WorkloadStdio, Stdio: &s})
	p.put("live", config.LiveKey(config.LiveVersion), []byte("this is no gzip file"))
	p.startAgent()
	p.startSidecar() // waits for startup, which must not wait for the file (O2)
	eventually(t, "readyz says why", func() bool {
		code, why := p.get(p.admin, config.PathReadyz)
		return code == 503 && strings.Contains(why, "no live contract yet: live contract: gzip")
	})
	if r := p.client("2025-06-18").initialize(`{}`); r.status != 503 {
		t.Errorf("initialize: %v", r)
	}
	p.putLive(config.DefaultLive())
	p.ready()
	p.legacy("2025-06-18")
}

// O8: keys change while sessions live; what the old key sealed stays valid as
// long as the old key is there.
func TestKeysRotateUnderLiveSessions(t *testing.T) {
	t.Parallel()
	p := stdioPod(t).ready()
	old := p.legacy("2025-06-18")
	if !strings.HasPrefix(old.session, "a1.") {
		t.Errorf("sealed with %.4s", old.session)
	}
	rotate := func(sealWith string, ids ...string) {
		t.Helper()
		p.put("keys", config.SealWith, []byte(sealWith))
		eventually(t, "the keys are loaded", func() bool {
			k := p.status().Keys
			return k.SealWith == sealWith && strings.Join(k.IDs, " ") == strings.Join(ids, " ") && k.Error == ""
		})
	}
	p.put("keys", "b2", bytes.Repeat([]byte("n"), config.KeyBytes))
	rotate("a1", "a1", "b2")
	rotate("b2", "a1", "b2")
	old.must(old.call("echo", `{"text":"x"}`))
	if fresh := p.legacy("2025-06-18"); !strings.HasPrefix(fresh.session, "b2.") {
		t.Errorf("a new session is sealed with %.4s", fresh.session)
	}
	p.put("keys", config.SealWith, []byte("nonsense"))
	eventually(t, "the bad Secret is reported", func() bool { return p.status().Keys.Error != "" })
	old.must(old.call("echo", `{"text":"x"}`))
	if !p.isReady() {
		t.Error("a bad Secret ended readiness")
	}
}

func TestABadBootConfigIsRefusedWithEveryProblem(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  []string
		want []string
	}{
		// O10: a workload on one of our ports is refused before it can clash.
		"a workload on our ports": {
			[]string{config.BootEnv + `={"version":1,"server":{"namespace":"n","name":"s","uid":"u"},"workload":{"type":"MCP","mcp":{"port":17080,"path":"/mcp"}},"clocks":{"propagationSeconds":5,"drainSeconds":30,"workloadTermSeconds":5,"sidecarSeconds":5,"marginSeconds":5},"contractVersions":[1]}`, config.EnvPodUID + "=u"},
			[]string{"workload.mcp.port: 17080 is one of the sidecar's own"},
		},
		"many problems": {
			[]string{config.BootEnv + `={"version":1,"workload":{"type":"Carrier"}}`},
			[]string{"server.namespace:", "server.name:", "workload.type:", "clocks:", config.EnvPodUID + " is not set"},
		},
		"nothing at all": {nil, []string{config.BootEnv + " is not set"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := launch(t, "mcp-sidecar", tc.env)
			if code := p.exit(); code == 0 {
				t.Error("exit code 0")
			}
			for _, want := range tc.want {
				if !strings.Contains(p.log.String(), want) {
					t.Errorf("%q lacks %q", p.log, want)
				}
			}
		})
	}
}
