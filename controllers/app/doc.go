// Package app wires the manager together: scheme, cache, listeners, leader
// election, and in controllers.go THE list of controllers.
//
// It must not know what a controller does. The main in cmd/manager only calls
// Main; tests build a manager with NewManager.
package app
