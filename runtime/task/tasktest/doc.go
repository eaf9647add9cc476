// Package tasktest is what every task.Store must do, as tests: Run is called
// from the tests of each store. Flaky makes a store that fails when told to,
// to see what whoever uses one does about it.
package tasktest
