// Package fence calls what a program brought along from goroutines and timers
// of the runtime. Nobody above them recovers: without it a panic there would
// end the process, and with it what everybody else has under way. It knows
// nothing of what it calls.
//
// Hooks that only observe, and funcs that only look a setting up, are called
// without: they must not panic.
package fence

import "runtime/debug"

// Call runs f. A panic of it ends here: report, unless it is nil, is given its
// value and stack, and Call returns false.
func Call(report func(value any, stack []byte), f func()) (fine bool) {
	defer func() {
		if fine {
			return
		}
		// Without a value it is the goroutine that ends (runtime.Goexit).
		if v := recover(); v != nil && report != nil {
			report(v, debug.Stack())
		}
	}()
	f()
	return true
}
