// Package laptop is the newcomer's path as a test: what the README tells of
// `mcp-sidecar run`, with the npm programs that test/peers installs. It needs
// the build tag peers; `make peers` runs it.
package laptop
