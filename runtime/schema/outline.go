package schema

import (
	"net/url"
	"strconv"
	"strings"

	"github.com/fairlead-dev/fairlead/runtime/strictjson"
)

// part is one subschema.
type part struct {
	// same are the parts that apply to the same value.
	same []string
	// inner are, by group, the parts that apply to members or elements; of one
	// group at most one applies to each.
	inner map[string][]string
	// refs are the references of the part, and base what they are relative to.
	refs []string
	base *url.URL
	// whole: the part may look at all of a value.
	whole bool
}

// outline is a schema as a graph of its parts, by JSON pointer.
type outline struct {
	parts map[string]*part
	// named are the pointers of resources by their address, and of anchors by
	// address and fragment.
	named map[string]string
}

// outlineOf draws the graph of a schema.
func outlineOf(raw []byte) *outline {
	o := &outline{parts: map[string]*part{}, named: map[string]string{}}
	base, _ := url.Parse(location)
	o.named[base.String()] = ""
	o.walk("", raw, base)
	for _, p := range o.parts {
		for _, ref := range p.refs {
			p.same = append(p.same, o.resolve(ref, p.base))
		}
	}
	return o
}

// walk notes a subschema and what is in it.
func (o *outline) walk(at string, raw []byte, base *url.URL) {
	p := &part{inner: map[string][]string{}, base: o.base(at, raw, base)}
	o.parts[at] = p
	strictjson.Each(raw, func(name, value []byte) bool {
		o.keyword(p, at, string(name), value)
		return true
	})
}

// base is what references in a subschema are relative to (its $id, or that of
// what is around it), noting its names.
func (o *outline) base(at string, raw []byte, base *url.URL) *url.URL {
	for _, keyword := range []string{"$id", "id"} {
		text := textOf(raw, keyword)
		if id, err := url.Parse(text); text != "" && err == nil && !strings.HasPrefix(text, "#") {
			base = base.ResolveReference(id)
			base.Fragment = ""
			o.named[base.String()] = at
		}
	}
	for _, keyword := range []string{"$anchor", "$dynamicAnchor", "$id", "id"} {
		if text := textOf(raw, keyword); text != "" {
			o.named[base.String()+"#"+strings.TrimPrefix(text, "#")] = at
		}
	}
	return base
}

func textOf(raw []byte, name string) string {
	value, _ := strictjson.Get(raw, name)
	text, _ := strictjson.String(value)
	return text
}

// keyword notes what one keyword of a part holds.
func (o *outline) keyword(p *part, at, keyword string, value []byte) {
	same := func(sub string) { p.same = append(p.same, sub) }
	group := func(g string) func(string) { return func(sub string) { p.inner[g] = append(p.inner[g], sub) } }
	to := at + "/" + keyword
	p.whole = p.whole || comparesWhole(keyword, value)
	switch keyword {
	case "$ref", "$dynamicRef", "$recursiveRef":
		if target, ok := strictjson.String(value); ok {
			p.refs = append(p.refs, target)
		}
	case "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies":
		o.several(p, to, value, same)
	case "not", "if", "then", "else":
		o.one(p, to, value, same)
	case "$defs", "definitions":
		o.several(p, to, value, func(string) {})
	case "properties":
		o.several(p, to, value, group("members"))
	case "additionalProperties":
		o.one(p, to, value, group("members"))
	case "patternProperties": // several may apply to one member
		o.several(p, to, value, func(sub string) { group(sub)(sub) })
	case "prefixItems":
		o.several(p, to, value, group("elements"))
	case "additionalItems":
		o.one(p, to, value, group("elements"))
	case "items":
		if strictjson.IsArray(value) {
			o.several(p, to, value, group("elements"))
			return
		}
		o.one(p, to, value, group("elements"))
	case "contains", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		o.one(p, to, value, group(keyword))
	}
}

func (o *outline) one(p *part, to string, value []byte, add func(string)) {
	o.walk(to, value, p.base)
	add(to)
}

// several notes each element of an array, or member of an object, as a part.
func (o *outline) several(p *part, to string, value []byte, add func(string)) {
	i := 0
	strictjson.Elements(value, func(sub []byte) bool {
		o.one(p, to+"/"+strconv.Itoa(i), sub, add)
		i++
		return true
	})
	strictjson.Each(value, func(name, sub []byte) bool {
		o.one(p, to+"/"+pointer(string(name)), sub, add)
		return true
	})
}

// pointer spells a name as a token of a JSON pointer.
func pointer(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// resolve finds what a reference means; "?" is nothing in this document, such
// as the schema of schemas.
func (o *outline) resolve(ref string, base *url.URL) string {
	u, err := url.Parse(ref)
	if err != nil {
		return "?"
	}
	abs := base.ResolveReference(u)
	fragment := abs.Fragment
	abs.Fragment, abs.RawFragment = "", ""
	if fragment != "" && !strings.HasPrefix(fragment, "/") {
		if at, ok := o.named[abs.String()+"#"+fragment]; ok {
			return at
		}
		return "?"
	}
	root, ok := o.named[abs.String()]
	if !ok {
		return "?"
	}
	if at := root + fragment; o.parts[at] != nil {
		return at
	}
	return "?"
}
