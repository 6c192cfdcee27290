package pieces

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	for _, test := range []struct {
		name string
		doc  Document
		want []Piece
	}{
		{"a fence", Document{Path: "/a/b.md", Text: "text\n```python\nprint(1)\n```\nmore"},
			[]Piece{{Language: "python", Word: "python", Head: 1, First: 2, End: 3, Code: "print(1)\n", Margins: []int{0}}}},
		{"tildes, longer, with backticks inside", Document{Language: "markdown", Text: "~~~~ sh title=x\n```\n~~~\n~~~~~\n"},
			[]Piece{{Language: "bash", Word: "sh", First: 1, End: 3, Code: "```\n~~~\n", Margins: []int{0, 0}}}},
		{"an unknown language, and none", Document{Path: "x.md", Text: "```cobol\nx\n```\n```\nprint(1)\n```"},
			[]Piece{{Word: "cobol", First: 1, End: 2, Code: "x\n", Margins: []int{0}}}},
		{"in a list and a quotation", Document{Path: "x.md", Text: "1. ```js\n   a\n     b\n   ```\n> > ```{.ruby .x}\n> > c\n> >  d\nout"},
			[]Piece{
				{Language: "node", Word: "js", First: 1, End: 3, Code: "a\n  b\n", Margins: []int{3, 3}},
				{Language: "ruby", Word: "ruby", Head: 4, First: 5, End: 7, Code: "c\n d\n", Margins: []int{4, 4}},
			}},
		{"not closed, with other ends of lines", Document{Path: "x.md", Text: "```py,ignore\r\na\rb"},
			[]Piece{{Language: "python", Word: "py", First: 1, End: 3, Code: "a\nb\n", Margins: []int{0, 0}}}},
		{"empty, and code in a line", Document{Path: "x.md", Text: "```py\n\n```\n```py` x\n```py"}, nil},
		{"cells", Document{Path: "x.py", Text: "import os\n# %% one\na\n#%% [markdown]\n# text\n# In[2]:\nb\n"},
			[]Piece{
				{Kind: Cell, Language: "python", Word: "python", End: 1, Code: "import os\n"},
				{Kind: Cell, Language: "python", Word: "python", Head: 1, First: 2, End: 3, Code: "a\n"},
				{Kind: Cell, Language: "python", Word: "python", Head: 5, First: 6, End: 8, Code: "b\n\n"},
			}},
		{"a cell of lua", Document{Language: "lua", Text: "-- %%\nx"}, []Piece{{Kind: Cell, Language: "lua", Word: "lua", First: 1, End: 2, Code: "x\n"}}},
		{"a script", Document{Path: "/bin/x", Text: "#!/usr/bin/env -S perl -w\n1"}, []Piece{{Kind: File, Language: "perl", Word: "perl", End: 2, Code: "#!/usr/bin/env -S perl -w\n1"}}},
		{"#! before the name", Document{Path: "x.py", Language: "python", Text: "#!/bin/bash\n"}, []Piece{{Kind: File, Language: "bash", Word: "bash", End: 2, Code: "#!/bin/bash\n"}}},
		{"a file by its name", Document{Path: "x.rb", Text: "1"}, []Piece{{Kind: File, Language: "ruby", Word: "ruby", End: 1, Code: "1"}}},
		{"a file by its language", Document{Path: "untitled:1", Language: "shellscript", Text: "ls"}, []Piece{{Kind: File, Language: "bash", Word: "bash", End: 1, Code: "ls"}}},
		{"no language", Document{Path: "x.rs", Language: "rust", Text: "fn main() {}"}, nil},
		{"nothing", Document{Path: "x.py", Text: " \n"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, Of(test.doc)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A line belongs to a fence with both of its marks.
func TestAt(t *testing.T) {
	all := Of(Document{Path: "x.md", Text: "\n```py\na\n```\n\n```sh\nb\n```"})
	for line, want := range []string{"", "python", "python", "python", "", "bash", "bash", "bash", ""} {
		got := ""
		for _, p := range At(all, line, line) {
			got += p.Language
		}
		if got != want {
			t.Errorf("line %d: %q, want %q", line, got, want)
		}
	}
}

// Whatever a document is, its pieces lie in it, in order, and their code is what the lines hold.
func FuzzOf(f *testing.F) {
	for _, seed := range []string{"```py\nx\n```", "> ~~~js\n> a\nb", "# %%\na\n# %%", "- ```sh\n  x\n\t```", "#!/bin/sh\r\rx", "%%\n%% x", "1) >```r\n>>"} {
		f.Add("x.md", seed)
		f.Add("x.py", seed)
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		lines, before := Lines(text), 0
		for _, p := range Of(Document{Path: path, Text: text}) {
			if p.Head < before || p.First < p.Head || p.End < p.First || p.End > len(lines) {
				t.Fatalf("%+v after %d of %d lines", p, before, len(lines))
			}
			before = p.End
			if p.Kind == File {
				continue
			}
			for i, line := range strings.Split(strings.TrimSuffix(p.Code, "\n"), "\n") {
				margin := 0
				if p.Margins != nil {
					margin = p.Margins[i]
				}
				if lines[p.First+i][margin:] != line {
					t.Fatalf("line %d is %q, not %q", p.First+i, lines[p.First+i], line)
				}
			}
		}
	})
}
