// Package appserver offers views of MCP Apps on a server of package server: it
// registers their HTML, points tools to them, hides tools that only a view may
// call from clients that show none, and sees to it that a tool's result says
// something to people and models that see no view.
package appserver
