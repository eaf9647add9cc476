// Package podstatus reads GET /status of the sidecars: bounded in number, in
// time and in size, and no oftener than somebody needs the answer (O6, O7).
//
// What it reads explains; it never decides about readiness. It must not know
// what conditions are made of it.
package podstatus
