package main

import (
	"testing"
	"time"
)

func TestLayerExitCodes(t *testing.T) {
	for name, test := range map[string]struct {
		args []string
		want int
	}{
		"a passing command passes":           {[]string{"-name", "x", "-budget", "1m", "--", "true"}, 0},
		"a failing command keeps its code":   {[]string{"-name", "x", "-budget", "1m", "--", "sh", "-c", "exit 7"}, 7},
		"a missing command fails":            {[]string{"-name", "x", "-budget", "1m", "--", "/does/not/exist"}, 1},
		"a killed command fails":             {[]string{"-name", "x", "-budget", "1m", "--", "sh", "-c", "kill -9 $$"}, 1},
		"an interrupted command fails":       {[]string{"-name", "x", "-budget", "1m", "--", "sh", "-c", "kill -INT $$; exit 0"}, 1},
		"no name is a usage error":           {[]string{"-budget", "1m", "--", "true"}, 2},
		"an overrun of the budget fails":     {[]string{"-name", "x", "-budget", "1ns", "--", "sleep", "0.6"}, 1},
		"a failing overrun keeps its code":   {[]string{"-name", "x", "-budget", "1ns", "--", "sh", "-c", "sleep 0.6; exit 5"}, 5},
		"no command at all is a usage error": {[]string{"-name", "x", "-budget", "1m"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("FAIRLEAD_BUDGETS", "")
			if got := run(test.args); got != test.want {
				t.Errorf("exit code %d, want %d", got, test.want)
			}
		})
	}
}

func TestOverBudgetMeansByHalf(t *testing.T) {
	if overBudget(15*time.Minute, 10*time.Minute) {
		t.Error("exactly one and a half times the budget is still inside")
	}
	if !overBudget(15*time.Minute+time.Second, 10*time.Minute) {
		t.Error("more than one and a half times the budget is over")
	}
}
