package laptop

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/fairlead-dev/fairlead/runtime/client"
	"github.com/fairlead-dev/fairlead/runtime/mcp"
	"github.com/fairlead-dev/fairlead/sidecar/config"
)

const (
	// namedTools is how many tools the screen names.
	namedTools = 6
	// lookTime bounds how long the screen waits for them.
	lookTime = 30 * time.Second
)

// show prints the first screen, once the workload has shaken hands.
func (o *Options) show(ctx context.Context, url string, s config.WorkloadStatus) {
	tools, first := look(ctx, url)
	w := tabwriter.NewWriter(o.Screen, 0, 8, 2, ' ', 0)
	row := func(name, text string) { fmt.Fprintf(w, "  %s\t%s\n", name, text) }
	row("URL", url)
	row("Clients", strings.Join(mcp.Modern(), ", ")+" (stateless); "+strings.Join(mcp.Legacy(), ", ")+" (sessions)")
	who := strings.TrimSpace(clean(fmt.Errorf("%s %s", s.Name, s.Version)))
	row("Workload", who)
	row("", "speaks "+clean(fmt.Errorf("%s", s.Revision))+" ("+s.Era+" era)")
	row("", o.what())
	row("Tools", tools)
	if first != "" {
		row("Try", "mcp-sidecar inspect --url "+url)
	}
	row("Stop", "Ctrl-C")
	fmt.Fprintln(o.Screen)
	_ = w.Flush()
	fmt.Fprintln(o.Screen)
}

// look asks the endpoint for its tools, as any client would.
func look(ctx context.Context, url string) (text, first string) {
	ctx, stop := context.WithTimeout(ctx, lookTime)
	defer stop()
	c, err := client.Connect(ctx, client.Options{Server: client.HTTP{URL: url}, Name: "mcp-sidecar run", Version: "1", Reconnect: client.Reconnect{Never: true}})
	if err != nil {
		return "not known: " + clean(err), ""
	}
	defer c.Close()
	if !c.Server().Has(mcp.CapTools) {
		return "none offered", ""
	}
	tools, err := c.ListTools(ctx)
	if err != nil {
		return "not known: " + clean(err), ""
	}
	if len(tools) == 0 {
		return "0", ""
	}
	var names []string
	for _, t := range tools[:min(len(tools), namedTools)] {
		names = append(names, clean(fmt.Errorf("%s", t.Name)))
	}
	text = fmt.Sprintf("%d: %s", len(tools), strings.Join(names, ", "))
	if n := len(tools) - len(names); n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text, tools[0].Name
}
