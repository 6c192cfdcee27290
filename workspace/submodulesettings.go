package workspace

import (
	"strings"
)

// SubmoduleSettings are keys and values for each submodule of .gitmodules that the repository's config does
// not have yet: passed through GIT_CONFIG_COUNT they make "git submodule init" and "update --init" find
// done what they would otherwise write to the config.
func SubmoduleSettings(ws *Workspace) [][2]string {
	r := ws.Repo
	if r == nil || r.WorkTree == "" || r.WorkTree != ws.Root {
		return nil
	}
	_, byPathspec := r.config.Last("submodule.active")
	var out [][2]string
	for _, m := range readModules(ws.looks, r.WorkTree) {
		out = append(out, missingSettings(r, m, byPathspec)...)
	}
	return out
}

// missingSettings are what init_submodule in git's builtin/submodule--helper.c would write.
func missingSettings(r *Repository, m module, byPathspec bool) [][2]string {
	key := "submodule." + m.name + "."
	url := m.config["url"]
	if _, ok := r.config.Last(key + "url"); ok || url == "" || strings.HasPrefix(url, "-") || strings.ContainsAny(url, "\x00\n") {
		return nil
	}
	if isRelativeURL(url) {
		resolved, ok := resolveURL(upstream(r), url)
		if !ok {
			return nil
		}
		url = resolved
	}
	out := [][2]string{{key + "url", url}}
	if _, ok := r.config.Last(key + "active"); !ok && byPathspec {
		// With a url a submodule is active, unless submodule.active chooses by path.
		out = append(out, [2]string{key + "active", "true"})
	}
	if update := m.config["update"]; update == "checkout" || update == "rebase" || update == "merge" || update == "none" {
		if _, ok := r.config.Last(key + "update"); !ok {
			out = append(out, [2]string{key + "update", update})
		}
	}
	return out
}

func isRelativeURL(url string) bool {
	return strings.HasPrefix(url, "./") || strings.HasPrefix(url, "../")
}

// upstream is what relative URLs are relative to: the current branch's remote, else "origin", else the
// repository itself (gitmodules(5), "url").
func upstream(r *Repository) string {
	name, ok := r.config.Last("branch." + r.Branch + ".remote")
	if !ok || r.Branch == "" {
		name = "origin"
	}
	if url, ok := r.config.Last("remote." + name + ".url"); ok && url != "" {
		return url
	}
	return r.WorkTree
}

// resolveURL is git's relative_url (remote.c): each "../" takes a part off the remote's URL.
func resolveURL(remote, url string) (string, bool) {
	remote = strings.TrimSuffix(remote, "/")
	relative := isLocalURL(remote) && !strings.HasPrefix(remote, "/")
	if relative && !isRelativeURL(remote) {
		remote = "./" + remote
	}
	separator := "/"
	for {
		if rest, ok := strings.CutPrefix(url, "./"); ok {
			url = rest
			continue
		}
		rest, ok := strings.CutPrefix(url, "../")
		if !ok {
			break
		}
		url = rest
		chopped, colon, ok := chopLast(remote, relative)
		if !ok {
			return "", false
		}
		if remote = chopped; colon {
			separator = ":"
		}
	}
	out := strings.TrimSuffix(remote+separator+url, "/")
	return strings.TrimPrefix(out, "./"), true
}

func chopLast(remote string, relative bool) (rest string, colon, ok bool) {
	if i := strings.LastIndexByte(remote, '/'); i >= 0 {
		return remote[:i], false, true
	}
	if i := strings.LastIndexByte(remote, ':'); i >= 0 {
		return remote[:i], true, true
	}
	if relative || remote == "." {
		return "", false, false
	}
	return ".", false, true
}

// isLocalURL is git's url_is_local_not_ssh: no colon before the first slash.
func isLocalURL(url string) bool {
	colon, slash := strings.IndexByte(url, ':'), strings.IndexByte(url, '/')
	return colon < 0 || slash >= 0 && slash < colon
}
