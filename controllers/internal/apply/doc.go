// Package apply writes the children of an object: server-side apply with one
// field owner, refusal to take over what is not ours (O4), and silence when
// nothing would change, also right after a restart (O19).
//
// It owns the questions "whose is this object?" and "would applying change
// it?". It knows neither our kinds nor what children there are: builders and
// phases are elsewhere. An Applier is safe for concurrent use.
//
// Look reads a child and says whose it is; Apply and Delete act only on a Child
// that Look returned in the same reconcile.
package apply
