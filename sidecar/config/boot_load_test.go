package config

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func stdioBoot() Boot {
	s := DefaultStdio()
	return Boot{
		Version:          BootVersion,
		Server:           ServerRef{Namespace: "demo", Name: "everything", UID: "0b1f3c1e-8f0a-4a5e-9d55-2f1c0a6f7e11"},
		Workload:         Workload{Type: WorkloadStdio, Stdio: &s},
		Clocks:           NewClocks(DefaultDrainSeconds),
		ContractVersions: []int{1},
	}
}

func mcpBoot() Boot {
	b := stdioBoot()
	b.Workload = Workload{Type: WorkloadMCP, MCP: &MCP{Port: 3000, Path: DefaultMCPPath}}
	b.Clocks = NewClocks(0)
	return b
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs; a released format never changes, a new version gets a new file (-want +got):\n%s", file, diff)
	}
}

func TestBootOfVersion1IsEncodedAndHashedForEver(t *testing.T) {
	for name, b := range map[string]Boot{"stdio": stdioBoot(), "mcp": mcpBoot()} {
		data, hash, err := EncodeBoot(b)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, "boot-v1-"+name+".json", data)
		golden(t, "boot-v1-"+name+".hash", []byte(hash))
		back, loaded, err := LoadBoot(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(b, back); diff != "" {
			t.Errorf("%s does not survive the trip (-want +got):\n%s", name, diff)
		}
		if loaded != hash {
			t.Errorf("%s: hash %s when loaded, %s when encoded", name, loaded, hash)
		}
	}
}

func TestBootHashIgnoresSpelling(t *testing.T) {
	data, hash, err := EncodeBoot(stdioBoot())
	if err != nil {
		t.Fatal(err)
	}
	_, got, err := LoadBoot(bytes.ReplaceAll(data, []byte(","), []byte(" ,\n ")))
	if err != nil || got != hash {
		t.Errorf("hash %q, %v; want %q", got, err, hash)
	}
}

func TestBootRefuses(t *testing.T) {
	change := func(f func(*Boot)) string {
		b := stdioBoot()
		f(&b)
		data, err := encodeCanonical(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	good := change(func(*Boot) {})
	for name, tc := range map[string]struct{ in, want string }{
		"nothing":                    {"", "boot config: "},
		"two values":                 {good + "{}", "not valid JSON"},
		"an unknown field":           {strings.Replace(good, `"version"`, `"colour":1,"version"`, 1), `unknown field "colour"`},
		"a newer version":            {change(func(b *Boot) { b.Version = 2 }), "unsupported version: 2"},
		"no namespace":               {change(func(b *Boot) { b.Server.Namespace = "" }), "server.namespace: must have"},
		"no workload":                {change(func(b *Boot) { b.Workload.Stdio = nil }), "workload.stdio: is required"},
		"two workloads":              {change(func(b *Boot) { b.Workload.MCP = &MCP{} }), "workload.mcp: must be absent"},
		"an unknown workload":        {change(func(b *Boot) { b.Workload.Type = "REST" }), `workload.type: "REST" is none of`},
		"a later process model":      {change(func(b *Boot) { b.Workload.Stdio.ProcessModel = "Forked" }), `workload.stdio.processModel: "Forked" is none of PerSession, Shared, Pooled`},
		"an unknown end":             {change(func(b *Boot) { b.Workload.Stdio.OnIdle = "Sleep" }), "workload.stdio.onIdle"},
		"an unknown lease":           {change(func(b *Boot) { b.Workload.Stdio.Leasing = "Once" }), "workload.stdio.leasing"},
		"an unknown sharing":         {change(func(b *Boot) { b.Workload.Stdio.SharedAcrossPrincipals = "Maybe" }), "workload.stdio.sharedAcrossPrincipals"},
		"a revision that is no date": {change(func(b *Boot) { b.Workload.Stdio.Revision = "modern" }), "workload.stdio.revision"},
		"a root that is no file":     {change(func(b *Boot) { b.Roots = []Root{{URI: "https://x"}} }), "roots[0].uri"},
		"a root with a long name":    {change(func(b *Boot) { b.Roots = []Root{{URI: "file:///x", Name: strings.Repeat("x", MaxRootName+1)}} }), "roots[0].name"},
		"too many roots":             {change(func(b *Boot) { b.Roots = make([]Root, MaxRoots+1) }), "roots: 9 entries"},
		"no processes":               {change(func(b *Boot) { b.Workload.Stdio.MaxProcesses = 0 }), "workload.stdio.maxProcesses: 0 is outside"},
		"clocks made by hand":        {change(func(b *Boot) { b.Clocks.MarginSeconds = 0 }), "clocks: must be those of NewClocks"},
		"rising contract versions":   {change(func(b *Boot) { b.ContractVersions = []int{1, 2} }), "contractVersions: must be positive and fall"},
		"no contract version":        {change(func(b *Boot) { b.ContractVersions = nil }), "contractVersions: must list"},
		"one of the sidecar's ports": {change(func(b *Boot) { b.Workload = Workload{Type: WorkloadMCP, MCP: &MCP{Port: 17082, Path: "/"}} }), "17082 is one of the sidecar's own"},
		"an unclean path":            {change(func(b *Boot) { b.Workload = Workload{Type: WorkloadMCP, MCP: &MCP{Port: 1, Path: "/a/../b"}} }), "not a clean absolute path"},
		"a path with a query":        {change(func(b *Boot) { b.Workload = Workload{Type: WorkloadMCP, MCP: &MCP{Port: 1, Path: "/a?b"}} }), "not a clean absolute path"},
		"too much":                   {strings.Repeat(" ", MaxBootBytes) + good, "too large"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := LoadBoot([]byte(tc.in))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestBootNamesEveryProblemAtOnce(t *testing.T) {
	err := Boot{Version: 1}.Validate()
	var invalid *InvalidError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %T %v", err, err)
	}
	var paths []string
	for _, p := range invalid.Problems {
		paths = append(paths, p.Path)
	}
	want := []string{"server.namespace", "server.name", "server.uid", "workload.type", "clocks", "contractVersions"}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestTheLargestLegalBootFits(t *testing.T) {
	b := stdioBoot()
	for range MaxRoots {
		b.Roots = append(b.Roots, Root{URI: "file://" + strings.Repeat("/", MaxRootURI-7), Name: strings.Repeat("n", MaxRootName)})
	}
	b.ContractVersions = nil
	for v := range 16 {
		b.ContractVersions = append(b.ContractVersions, 1<<62-v)
	}
	if _, _, err := EncodeBoot(b); err != nil {
		t.Fatalf("the largest legal boot config: %v", err)
	}
}

// O3: one function, one golden.
func TestClocksSumUp(t *testing.T) {
	var b strings.Builder
	for _, drain := range []int{-1, 0, 30, 3600, 1 << 60} {
		c := NewClocks(drain)
		line, err := encodeCanonical(struct {
			Ask    int    `json:"ask"`
			Clocks Clocks `json:"clocks"`
			Hook   int    `json:"hook"`
			Grace  int    `json:"grace"`
		}{drain, c, c.Hook(), c.Grace()})
		if err != nil {
			t.Fatal(err)
		}
		b.Write(line)
		b.WriteByte('\n')
		if c.Hook() >= c.Grace()-c.WorkloadTermSeconds-c.SidecarSeconds {
			t.Errorf("drain %d: hook %d leaves no room in grace %d", drain, c.Hook(), c.Grace())
		}
	}
	golden(t, "clocks.jsonl", []byte(b.String()))
}

func FuzzLoadBoot(f *testing.F) {
	for _, b := range []Boot{stdioBoot(), mcpBoot()} {
		data, _, err := EncodeBoot(b)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"version":1,"server":{}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, hash, err := LoadBoot(data)
		if err != nil {
			return
		}
		again, rehash, err := EncodeBoot(b)
		if err != nil || rehash != hash {
			t.Fatalf("accepted %q but re-encodes as %q, %q, %v", data, again, rehash, err)
		}
	})
}
