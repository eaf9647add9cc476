package schema

import (
	"math"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// everything is the reach of a schema that may look at all of a value.
const everything = math.MaxInt

// reach is into how many levels of a value a schema looks: 1 when it says
// something about the value and how many members it has, and nothing about
// those. What lies deeper changes neither verdict nor words, and is not worth
// the memory that it takes when it is decoded (P18).
func (o *outline) reach() int { return o.reachOf("", map[string]int{}) }

func (o *outline) reachOf(at string, known map[string]int) int {
	if n, ok := known[at]; ok {
		return n
	}
	p := o.parts[at]
	if p == nil || p.whole {
		return everything
	}
	known[at] = everything // what leads back to itself
	n := 1
	for _, sub := range p.same {
		n = max(n, o.reachOf(sub, known))
	}
	for _, group := range p.inner {
		for _, sub := range group {
			n = max(n, deeper(o.reachOf(sub, known)))
		}
	}
	known[at] = n
	return n
}

func deeper(n int) int {
	if n == everything {
		return everything
	}
	return n + 1
}

// comparesWhole reports whether a keyword holds a value to another one member
// by member, or means what is only known while a value is checked.
func comparesWhole(keyword string, value []byte) bool {
	container := func(v []byte) bool { return strictjson.IsArray(v) || strictjson.IsObject(v) }
	switch keyword {
	case "const":
		return container(value)
	case "enum":
		some := false
		strictjson.Elements(value, func(v []byte) bool {
			some = some || container(v)
			return !some
		})
		return some
	case "uniqueItems":
		return string(value) != "false"
	case "$dynamicRef", "$recursiveRef":
		return true
	}
	return false
}
