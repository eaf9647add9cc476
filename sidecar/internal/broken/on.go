//go:build breakrules

package broken

import "os"

var rule = os.Getenv("FAIRLEAD_BREAK")

// Rule reports whether the rule of this name is to be broken in this process.
func Rule(name string) bool { return name == rule }
