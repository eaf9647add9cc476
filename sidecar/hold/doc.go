// Package hold lets calls wait while the workload is away.
//
// No status code makes a client wait, so what may come back is waited for
// (P1): calls that arrive while there is no workload are held for a bounded
// time and in bounded number, and go on in the moment it is back. How many run
// at once is the dispatcher's business. The package must not know what a call
// is made of, or why the workload is away.
package hold
