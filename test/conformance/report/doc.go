// Package report decides what the results of the conformance suite are worth,
// and says it: to a person who must act on a failure, and as a page.
//
// Every check counts, whether the suite itself scores its scenario or not, and
// a warning is a failure (P30). It must not know how results come about.
package report
