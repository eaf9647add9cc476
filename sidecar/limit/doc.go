// Package limit bounds how many calls run at the workload at once.
//
// It owns one gate: bounded active, bounded waiting, immediate refusal past
// that, and a hold while the workload is away (P1: what may come back is
// waited for). It must not know what a call is made of.
package limit
