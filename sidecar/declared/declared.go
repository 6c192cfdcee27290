// Package declared turns what the settings declare of the host (files, folders, values of variables) into what a run is
// given.
//
//	paths := append(declared.Of(settings.Files), declared.OfProfile("claude", profile)...)
//	mounts, err := declared.Resolve(paths, declared.Host{Home: home, Getenv: getenv, Workspace: roots, Own: own})
//
// Nothing is made, opened or mounted. Every symbolic link on the way is followed here, hop by hop, so that a source has
// none when it is mounted. A link can be planted only by who may write the folder that holds it. So one that lies in a
// folder where runs write or wrote (a declared one, the workspace, Host.Writable, Host.Written) is an earlier run's until
// shown otherwise: what
// it leads to has to be declared by itself, with the same rights, or to be a read-only part of the system. Any other link
// is the person's or the administrator's, and is followed: ~/.gitconfig may lead to ~/dotfiles/gitconfig.
//
// What this does not protect against: a folder where runs of another workspace write, and that the Host knows nothing of.
// A source can be replaced after it was looked at, by a run of another workspace, or with other settings: so Held says what
// it is, and who mounts it sees to it that it still is that. (Of one workspace's settings a source is a mount point for each
// run, which none can rename or remove, if the folders above it are pinned, too: Pins.)
package declared

import (
	"io/fs"
	"strings"

	"code.sidecar.dev/sidecar/config"
)

// Path is one declared file or folder.
type Path struct {
	// Key is the setting that names it, for messages: "files.rw_dirs".
	Key string
	// Text is the path as it was written, with ~ or a variable at its start.
	Text string
	// Write lets runs change it. Folder says that it is one, otherwise it is a file.
	Write, Folder bool
}

// Mount is what a run is given: Source of the host, without a symbolic link, at Target.
type Mount struct {
	Source, Target string
	Write, Folder  bool
	// Dev and Ino are what Source is (Held); 0 is not known.
	Dev, Ino uint64
}

// Host is what paths are looked up in.
type Host struct {
	// Getenv reads the person's environment; an empty variable is not set.
	Getenv func(string) string
	// Home is the person's.
	Home string
	// Workspace are the folders of the workspace: its root, and what of git it has elsewhere.
	Workspace []string
	// Own are sidecar's folders (state, runtime, cache) and the person's settings, which no run may see.
	Own []string
	// Writable are further folders where runs write: other workspaces.
	Writable []string
	// Written says whether runs could ever write a folder, as in another workspace; nil knows of none.
	Written func(folder string) bool
	// Lstat and Readlink are those of package os, unless a test says otherwise.
	Lstat    func(string) (fs.FileInfo, error)
	Readlink func(string) (string, error)

	// homes are Home, as it is written and without links.
	homes []string
}

// Of are the paths of the section files.
func Of(f config.Files) []Path {
	return list("files.", f)
}

// OfProfile are the paths of a profile.
func OfProfile(name string, p config.Profile) []Path {
	return list("profiles."+name+".", config.Files{RWDirs: p.RWDirs, RWFiles: p.RWFiles, RODirs: p.RODirs, ROFiles: p.ROFiles})
}

// OfFlags are the paths that a person's own command line names.
func OfFlags(f config.Files) []Path {
	all := list("--", f)
	for i, p := range all {
		all[i].Key = strings.TrimSuffix(strings.ReplaceAll(p.Key, "_", "-"), "s")
	}
	return all
}

func list(section string, f config.Files) []Path {
	var all []Path
	for _, of := range []struct {
		key           string
		texts         []string
		write, folder bool
	}{
		{"rw_dirs", f.RWDirs, true, true}, {"rw_files", f.RWFiles, true, false},
		{"ro_dirs", f.RODirs, false, true}, {"ro_files", f.ROFiles, false, false},
	} {
		for _, text := range of.texts {
			all = append(all, Path{Key: section + of.key, Text: text, Write: of.write, Folder: of.folder})
		}
	}
	return all
}
