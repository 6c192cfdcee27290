package linked

import (
	"path/filepath"
	"slices"

	"code.sidecar.dev/workspace/gitconfig"
	"code.sidecar.dev/workspace/plainfile"
)

// carried are the variables of git-config(1) that decide how a stored file looks in a folder and when git takes it
// for changed. All are words or numbers: none names a program, and none a file.
var carried = []string{
	"core.autocrlf", "core.bigfilethreshold", "core.checkroundtripencoding", "core.checkstat", "core.eol", "core.filemode", "core.ignorecase",
	"core.precomposeunicode", "core.sharedrepository", "core.symlinks", "core.trustctime", "core.usereplacerefs",
}

// own are the private git dir's settings: nothing is fetched, started, signed or written that was not asked for.
var own = [][2]string{
	{"core.hookspath", "/dev/null"}, {"core.fsmonitor", "false"}, {"core.untrackedcache", "false"}, {"core.splitindex", "false"},
	{"core.sparsecheckout", "false"}, {"core.logallrefupdates", "false"}, {"core.pager", "cat"}, {"core.editor", "false"}, {"core.askpass", ""},
	{"core.protectntfs", "true"}, {"core.protecthfs", "true"}, {"core.quotepath", "false"},
	// The person's own git may hold a lock for a moment.
	{"core.filesreflocktimeout", "3000"}, {"core.packedrefstimeout", "5000"},
	{"checkout.workers", "0"}, {"diff.renamelimit", "1000"}, {"diff.external", ""}, {"gc.auto", "0"}, {"maintenance.auto", "false"},
	{"log.showsignature", "false"}, {"protocol.allow", "never"}, {"submodule.recurse", "false"}, {"fetch.recursesubmodules", "false"},
	{"status.submodulesummary", "false"}, {"status.renames", "false"}, {"advice.statushints", "false"},
}

// dataFiles are files of patterns that git reads beside those in the tree (gitattributes(5), gitignore(5)): by what
// key, else by what name in git's folder in the home, and where in the private git dir a copy lies.
var dataFiles = []struct{ key, name, copy string }{
	{"core.attributesfile", "attributes", "attributes"},
	{"core.excludesfile", "ignore", "ignore"},
}

// readSettings notes what of the config is carried over, the person's and, above it, the repository's.
func (t *Trees) readSettings() {
	all := gitconfig.Join(t.ws.HostSettings(), t.ws.RepositorySettings())
	for _, key := range carried {
		if value, ok := all.Last(key); ok {
			t.looks = append(t.looks, [2]string{key, value})
		}
	}
	t.data = map[string][]byte{}
	for _, f := range dataFiles {
		t.copyData(f.copy, t.ws.HostFile(all, f.key, f.name))
	}
	t.copyData("info/attributes", filepath.Join(t.Common, "info", "attributes"))
	t.copyData("info/exclude", filepath.Join(t.Common, "info", "exclude"))
	t.copyData("shallow", filepath.Join(t.Common, "shallow"))
}

// copyData reads a file here, where a FIFO cannot hold git up and a size is bounded.
func (t *Trees) copyData(name, path string) {
	if path == "" {
		return
	}
	if data, err := plainfile.ReadThrough(path); err == nil {
		t.data[name] = data
	}
}

// config is the text of the private git dir's config.
func (t *Trees) config(dir string) string {
	settings := [][2]string{{"core.repositoryformatversion", "0"}, {"core.bare", "false"}}
	if t.format.object != "" {
		settings[0][1] = "1"
		settings = append(settings, [2]string{"extensions.objectformat", t.format.object})
	}
	settings = slices.Concat(settings, t.looks, own)
	for _, f := range dataFiles {
		settings = append(settings, [2]string{f.key, filepath.Join(dir, f.copy)})
	}
	return gitconfig.Text(settings)
}
