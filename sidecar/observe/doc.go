// Package observe turns what the runtime and the sidecar report into metrics
// and logs.
//
// Names are OpenTelemetry's for MCP where it has one (D15), and `fairlead_`
// otherwise. Every label comes from a closed set or is bounded here, so that
// no client and no workload can make series (F2). Logs are JSON lines; what a
// stranger wrote appears in them quoted and cut, arguments and results never.
//
// The package owns the registry, the descriptions of all metrics (Docs, from
// which docs/reference/metrics.md is made) and the logger. It must not know
// who reports.
package observe
