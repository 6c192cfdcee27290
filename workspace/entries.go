package workspace

import "slices"

// Entries are the names that host programs obey, with the rules applied: the table's without what is excepted, and those
// that are added.
func (r Rules) Entries() []Entry {
	out := slices.DeleteFunc(slices.Clone(obeyed), func(e Entry) bool { return r.excepts(e, e.Name) })
	for _, also := range r.Also {
		out = append(out, alsoEntry(also))
	}
	return out
}

// ControlFolders are the names by which version controls know a repository.
func ControlFolders() []string {
	out := []string{".git", ".jj"}
	for _, c := range controls {
		out = append(out, c.dir)
	}
	return out
}

// ControlFiles are the files of other version controls than git that their programs obey, below a repository's folder.
func ControlFiles() []string {
	var out []string
	for _, c := range append(slices.Clone(controls), control{".jj", jujutsuFiles}) {
		for _, f := range c.files {
			out = append(out, c.dir+"/"+f.name)
		}
	}
	return out
}
