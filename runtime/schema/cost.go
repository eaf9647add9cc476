package schema

import (
	"errors"
	"fmt"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// What a schema makes the checker do is bounded before it is ever used (W25.5).
// Parts of a schema that apply to one and the same value, through allOf, $ref
// and their like, multiply where they share parts: a few lines can stand for
// billions of checks. Recursion that branches at the same value grows with
// every level of the value. The first is refused when a schema is compiled, the
// second bounds how deeply a value may be nested.

// MaxCost is how many parts of a schema may apply to one value.
const MaxCost = 10_000

// maxWork bounds branching recursion: branches to the power of levels.
const maxWork = 1 << 20

// ErrCostly is a schema that takes more checks of one value than MaxCost.
var ErrCostly = errors.New("schema: it applies too many parts to one value")

// branching analyses a schema. The error is ErrCostly; otherwise branches is
// how many times over each level of a value may be recursed into, 1 without
// branching.
func (o *outline) branching() (branches int, err error) {
	costs := map[string]int{}
	for at := range o.parts {
		if o.cost(at, costs) > MaxCost {
			return 0, fmt.Errorf("%w: more than %d", ErrCostly, MaxCost)
		}
	}
	f := finder{outline: o, number: map[string]int{}, low: map[string]int{}, group: map[string]int{}}
	for at := range o.parts {
		if f.number[at] == 0 {
			f.visit(at)
		}
	}
	branches = 1
	known := map[string]int{}
	for at := range o.parts {
		branches = max(branches, f.loops(at, known))
	}
	return branches, nil
}

// cost counts the parts that apply to a value because of one. A part that
// refers to itself at the same value is the checker's to refuse.
func (o *outline) cost(at string, known map[string]int) int {
	if n, ok := known[at]; ok {
		return n
	}
	known[at] = 1
	n := 1
	if p := o.parts[at]; p != nil {
		for _, sub := range p.same {
			n = min(n+o.cost(sub, known), MaxCost+1)
		}
	}
	known[at] = n
	return n
}

// finder finds the groups of parts that lead to one another (Tarjan).
type finder struct {
	*outline
	number, low, group map[string]int
	stack              []string
	next, groups       int
}

func (f *finder) visit(at string) {
	f.next++
	f.number[at], f.low[at] = f.next, f.next
	f.stack = append(f.stack, at)
	see := func(sub string) {
		switch {
		case f.parts[sub] == nil:
		case f.number[sub] == 0:
			f.visit(sub)
			f.low[at] = min(f.low[at], f.low[sub])
		case f.group[sub] == 0: // on the stack
			f.low[at] = min(f.low[at], f.number[sub])
		}
	}
	for _, sub := range f.parts[at].same {
		see(sub)
	}
	for _, group := range f.parts[at].inner {
		for _, sub := range group {
			see(sub)
		}
	}
	if f.low[at] != f.number[at] {
		return
	}
	f.groups++
	for {
		top := f.stack[len(f.stack)-1]
		f.stack = f.stack[:len(f.stack)-1]
		f.group[top] = f.groups
		if top == at {
			return
		}
	}
}

// loops counts the ways from a part, at the same value, to a step into a member
// that leads back to the part.
func (f *finder) loops(at string, known map[string]int) int {
	if n, ok := known[at]; ok {
		return n
	}
	known[at] = 0
	p := f.parts[at]
	if p == nil {
		return 0
	}
	n := 0
	for _, group := range p.inner {
		for _, sub := range group {
			if f.group[sub] == f.group[at] {
				n++
				break
			}
		}
	}
	for _, sub := range p.same {
		if f.group[sub] == f.group[at] {
			n = min(n+f.loops(sub, known), MaxCost)
		}
	}
	known[at] = n
	return n
}

// levels is how deeply a value may be nested for a schema that branches.
func levels(branches int) int {
	if branches <= 1 {
		return strictjson.MaxDepth
	}
	n := 0
	for work := 1; work <= maxWork; work *= branches {
		n++
	}
	return n
}

// depth is how deeply a decoded value is nested.
func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, sub := range v {
			deepest = max(deepest, depth(sub))
		}
	case []any:
		for _, sub := range v {
			deepest = max(deepest, depth(sub))
		}
	default:
		return 0
	}
	return deepest + 1
}
