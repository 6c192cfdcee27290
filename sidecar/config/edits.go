package config

import (
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// ways are the changes that may lead from the names that a file has to those that are wanted, the nicest first.
func (e *editor) ways(body ast.Node, had, want *Domains) [][]patch {
	if had == nil {
		return [][]patch{e.newSetting(body, want.Names[0].Name)}
	}
	node := pairOf(body, domainsKey)
	if node == nil {
		node = pairOf(valueIn(pairOf(body, "network")), "approved")
	}
	if node == nil {
		return nil
	}
	if len(want.Names) > len(had.Names) {
		return e.adds(node, want.Names[len(want.Names)-1].Name)
	}
	return e.removes(node, want)
}

// pairOf is the pair of a name in a map; nil where it has none.
func pairOf(node ast.Node, name string) *ast.MappingValueNode {
	values, ok := node.(ast.MapNode)
	if !ok {
		return nil
	}
	for pairs := values.MapRange(); pairs.Next(); {
		if have, ok := plain(pairs.Key()); ok && have == name {
			return pairs.KeyValue()
		}
	}
	return nil
}

func valueIn(pair *ast.MappingValueNode) ast.Node {
	if pair == nil {
		return nil
	}
	return pair.Value
}

// newSetting sets the names where there were none, in the section or with it.
func (e *editor) newSetting(body ast.Node, name string) []patch {
	network := pairOf(body, "network")
	last := len(e.starts) + 1
	switch {
	case network == nil && isFlow(body):
		return e.intoFlow(body, "network: {approved: ["+writeName(name)+"]}")
	case network == nil:
		return []patch{e.insert(last, "network:", "  approved:", "    - "+writeName(name))}
	case isFlow(network.Value):
		return e.intoFlow(network.Value, "approved: ["+writeName(name)+"]")
	case network.Value.Type() == ast.NullType && written(network.Value.(*ast.NullNode)) != "":
		from := e.at(network.Value.GetToken())
		return []patch{{from, from + len(network.Value.GetToken().Value), "{approved: [" + writeName(name) + "]}"}}
	}
	indent := e.indent(lineOf(network.Key)) + "  "
	if values, ok := network.Value.(ast.MapNode); ok {
		for pairs := values.MapRange(); pairs.Next(); {
			indent = e.indent(lineOf(pairs.Key()))
			break
		}
	}
	return []patch{e.insert(lineOf(network.Key)+1, indent+"approved:", indent+"  - "+writeName(name))}
}

func isFlow(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.SequenceNode:
		return n.IsFlowStyle
	case *ast.MappingNode:
		return n.IsFlowStyle
	}
	return false
}

// brackets are those of a flow's list or map.
func (e *editor) brackets(node ast.Node) (open, shut int) {
	switch n := node.(type) {
	case *ast.SequenceNode:
		return e.at(n.Start), e.at(n.End)
	case *ast.MappingNode:
		return e.at(n.Start), e.at(n.End)
	}
	return 0, 0
}

// intoFlow adds an item at the end of a flow's list or map.
func (e *editor) intoFlow(node ast.Node, item string) []patch {
	open, shut := e.brackets(node)
	before := trimmed(e.text[:shut])
	if len(before) == open+1 {
		return []patch{{open + 1, shut, item}}
	}
	if strings.HasSuffix(before, ",") {
		return []patch{{len(before), len(before), " " + item}}
	}
	return []patch{{len(before), len(before), ", " + item}}
}

// ontoFlow adds an item at the beginning, where a comment stands at the end.
func (e *editor) ontoFlow(node ast.Node, item string) []patch {
	open, _ := e.brackets(node)
	return []patch{{open + 1, open + 1, item + ", "}}
}

// adds adds a name to a list or a map of names.
func (e *editor) adds(pair *ast.MappingValueNode, name string) [][]patch {
	item := writeName(name)
	if _, ok := pair.Value.(ast.MapNode); ok {
		item += `: "*"`
	}
	if isFlow(pair.Value) {
		return [][]patch{e.intoFlow(pair.Value, item), e.ontoFlow(pair.Value, item)}
	}
	switch n := pair.Value.(type) {
	case *ast.SequenceNode:
		line := lineOf(firstNode(n.Values[0]))
		return [][]patch{{e.insert(lastLine(n)+1, e.indent(line)+"- "+item)}, {e.insert(line, e.indent(line)+"- "+item)}}
	case ast.MapNode:
		line := lineOf(pairsOf(n)[0].Key)
		return [][]patch{{e.insert(lastLine(pair.Value)+1, e.indent(line)+item)}, {e.insert(line, e.indent(line)+item)}}
	}
	return nil
}

// firstNode is a list's item, or the first key of what the parser takes for a map ("host:8443").
func firstNode(node ast.Node) ast.Node {
	if values, ok := node.(ast.MapNode); ok && !isFlow(node) {
		return pairsOf(values)[0].Key
	}
	return node
}

func pairsOf(node ast.MapNode) []*ast.MappingValueNode {
	var all []*ast.MappingValueNode
	for pairs := node.MapRange(); pairs.Next(); {
		all = append(all, pairs.KeyValue())
	}
	return all
}

// listed is a name where it stands.
type listed struct {
	name        Domain
	from        int
	first, last int // lines
}

// items are the names of a list or a map.
func (e *editor) items(value ast.Node) []listed {
	var all []listed
	add := func(name string, node, whole ast.Node) {
		all = append(all, listed{Domain{Name: name}, e.at(node.GetToken()), lineOf(node), lastLine(whole)})
	}
	switch n := value.(type) {
	case *ast.SequenceNode:
		for _, item := range n.Values {
			r, _ := rawNode(item)
			add(withPorts([]raw{r})[0].text, firstNode(item), item)
		}
	case ast.MapNode:
		for _, pair := range pairsOf(n) {
			name, _ := plain(pair.Key)
			add(name, pair.Key, pair.Value)
		}
	}
	return all
}

// removes takes out what is not wanted any longer.
func (e *editor) removes(pair *ast.MappingValueNode, want *Domains) [][]patch {
	stays := func(l listed) bool { return slices.ContainsFunc(want.Names, l.name.same) }
	all := e.items(pair.Value)
	if isFlow(pair.Value) {
		return [][]patch{e.outOfFlow(pair.Value, all, stays)}
	}
	var patches []patch
	for _, l := range all {
		if !stays(l) {
			patches = append(patches, patch{e.line(l.first), e.line(l.last + 1), ""})
		}
	}
	if len(want.Names) == 0 {
		colon := e.at(pair.Start) + 1
		patches = append(patches, patch{colon, colon, " []"})
	}
	return [][]patch{patches}
}

// outOfFlow takes items out of a flow's list or map, each with its comma.
func (e *editor) outOfFlow(node ast.Node, all []listed, stays func(listed) bool) []patch {
	open, shut := e.brackets(node)
	kept := -1 // the last that stays
	for i, l := range all {
		if stays(l) {
			kept = i
		}
	}
	if kept < 0 {
		return []patch{{open + 1, shut, ""}}
	}
	var patches []patch
	for i, l := range all[:kept] {
		if !stays(l) {
			patches = append(patches, patch{l.from, all[i+1].from, ""})
		}
	}
	if kept+1 < len(all) {
		from := len(strings.TrimSuffix(trimmed(e.text[:all[kept+1].from]), ","))
		patches = append(patches, patch{from, len(trimmed(e.text[:shut])), ""})
	}
	return patches
}

func trimmed(text []byte) string { return strings.TrimRight(string(text), " \t\r\n") }
