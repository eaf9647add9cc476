package main

import (
	"go/ast"
	"path"
	"strconv"
	"strings"
)

// modulePath is what imports of this module begin with.
const modulePath = "github.com/fairlead-dev/fairlead/"

// importDirs maps the names of this module's packages that a file imports to
// their directories, and says whether it imports testing.
func importDirs(file *ast.File) (dirs map[string]string, testing bool) {
	dirs = map[string]string{}
	for _, spec := range file.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if name == "testing" {
			testing = true
		}
		dir, ours := strings.CutPrefix(name, modulePath)
		if !ours {
			continue
		}
		local := path.Base(dir)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		dirs[local] = dir
	}
	return dirs, testing
}

// declared returns the names that a declaration introduces; of a method, its
// own name.
func declared(decl ast.Decl) []string {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		return []string{d.Name.Name}
	case *ast.GenDecl:
		var out []string
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					out = append(out, name.Name)
				}
			}
		}
		return out
	}
	return nil
}

// rulesIn returns the rules that the comments of a declaration name.
func rulesIn(file *ast.File, decl ast.Decl) []string {
	var doc *ast.CommentGroup
	switch d := decl.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	var out []string
	for _, group := range file.Comments {
		if inside := group.Pos() >= decl.Pos() && group.End() <= decl.End(); inside || group == doc {
			out = append(out, rulePattern.FindAllString(group.Text(), -1)...)
		}
	}
	return out
}

// usesOf returns the units that a declaration mentions: identifiers of its own
// package, and selectors of imported packages of this module.
func usesOf(decl ast.Decl, dir string, imports map[string]string) []string {
	var out []string
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				out = append(out, imports[x.Name]+"."+n.Sel.Name)
			}
		case *ast.Ident:
			out = append(out, dir+"."+n.Name)
		}
		return true
	})
	return out
}
