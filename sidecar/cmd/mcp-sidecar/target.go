package main

import (
	"net/http"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/config"
	"github.com/fairlead-dev/fairlead/sidecar/inspect"
	"github.com/fairlead-dev/fairlead/sidecar/laptop"
)

// target are the flags that say which server is asked, and how.
type target struct {
	inspect.Target
	headers []string
	output  string
}

func (t *target) flags(f *pflag.FlagSet) {
	f.StringVar(&t.URL, "url", "http://"+laptop.DefaultListen+config.DefaultMCPPath, "MCP endpoint")
	f.StringArrayVar(&t.headers, "header", nil, `header of every request, "Name: value"; may be repeated`)
	f.StringVar(&t.Revision, "revision", "", "protocol revision (default the newest in common)")
	f.DurationVar(&t.Timeout, "timeout", 30*time.Second, "how long each request may take")
	f.StringVarP(&t.output, "output", "o", "text", "text or json")
}

// check reads the flags together.
func (t *target) check() error {
	if t.output != "text" && t.output != "json" {
		return usageError("--output is text or json")
	}
	if _, ok := mcp.Lookup(t.Revision); t.Revision != "" && !ok {
		return usageError("--revision is one of " + strings.Join(mcp.Revisions(), ", "))
	}
	if !endpoint(t.URL) {
		return usageError("--url is an http or https URL")
	}
	t.Header = http.Header{}
	for _, h := range t.headers {
		name, value, ok := strings.Cut(h, ":")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(h, "\r\n") {
			return usageError(`--header is "Name: value"`)
		}
		t.Header.Add(name, strings.TrimSpace(value))
	}
	return nil
}
