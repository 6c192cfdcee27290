package sidecar

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"code.sidecar.dev/sandbox"
)

// Where the sandbox has sidecar's own files.
const (
	codeDir   = "/run/sidecar/code"
	gitConfig = "/run/sidecar/gitconfig"
	hostname  = "sidecar"
)

// etcFiles are what programs need of /etc, each only if it is there: the linker's cache, name services,
// certificates, time, and the alternatives that /usr's links lead through. Nothing in them is secret; no
// other file of /etc is seen.
var etcFiles = []string{
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime", "/etc/timezone",
	"/etc/ssl/certs", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/ca-trust/extracted", "/etc/ca-certificates/extracted",
	"/etc/mime.types", "/etc/magic", "/etc/protocols", "/etc/services", "/etc/os-release", "/etc/debian_version",
	"/etc/locale.conf", "/etc/default/locale", "/etc/fonts", "/etc/perl", "/etc/python3", "/etc/R", "/etc/octave.conf", "/etc/octaverc",
	"/etc/php", "/etc/julia", "/etc/java", "/etc/gitattributes", "/etc/terminfo", "/etc/inputrc",
}

// rootLinks are folders of the root that are links into /usr on merged systems, and folders of their own on others.
var rootLinks = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// system is the read-only part of the layout that every run of the host's own programs has.
func system(p *sandbox.Policy) {
	p.Mounts = append(p.Mounts, sandbox.Mount{Source: "/usr", Target: "/usr"})
	for _, dir := range rootLinks {
		if to, err := os.Readlink(dir); err == nil {
			p.Links = append(p.Links, sandbox.Link{Target: dir, To: to})
		} else if info, err := os.Stat(dir); err == nil && info.IsDir() {
			p.Mounts = append(p.Mounts, sandbox.Mount{Source: dir, Target: dir})
		}
	}
	for _, path := range etcFiles {
		etc.show(p, path)
	}
}

// etcCache remembers what each file of /etc comes to, until its entry changes: runs follow each other closely, and reading
// them all would cost each a part of a millisecond.
type etcCache struct {
	mu    sync.Mutex
	known map[string]shown
}

// shown is what a policy gets for a file, and the entry that it was made of.
type shown struct {
	of     os.FileInfo
	mounts []sandbox.Mount
	files  []sandbox.File
	links  []sandbox.Link
}

var etc = etcCache{known: map[string]shown{}}

func (c *etcCache) show(p *sandbox.Policy, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.known[path]
	if s.of == nil || !os.SameFile(s.of, info) || !s.of.ModTime().Equal(info.ModTime()) || s.of.Size() != info.Size() {
		var made sandbox.Policy
		etcFile(&made, path)
		s = shown{info, made.Mounts, made.Files, made.Links}
		c.known[path] = s
	}
	p.Mounts, p.Files, p.Links = append(p.Mounts, s.mounts...), append(p.Files, s.files...), append(p.Links, s.links...)
}

// etcFile copies a small file, keeps a link that leads into what is visible, and mounts the rest: a file
// or link in the sandbox's own root costs no mount.
func etcFile(p *sandbox.Policy, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		etcLink(p, path)
	case info.IsDir():
		p.Mounts = append(p.Mounts, sandbox.Mount{Source: path, Target: path, Optional: true})
	case info.Mode().IsRegular() && info.Size() <= 64<<10:
		if data, err := os.ReadFile(path); err == nil {
			p.Files = append(p.Files, sandbox.File{Target: path, Data: data, Mode: 0o444})
		}
	case info.Mode().IsRegular():
		p.Mounts = append(p.Mounts, sandbox.Mount{Source: path, Target: path, Optional: true})
	}
}

func etcLink(p *sandbox.Policy, path string) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return
	}
	if sandbox.Inside(real, "/usr") {
		p.Links = append(p.Links, sandbox.Link{Target: path, To: real})
		return
	}
	p.Mounts = append(p.Mounts, sandbox.Mount{Source: real, Target: path, Optional: true})
}

// account is the user that a run sees: the host user's own name and ids, with the sandbox's home.
type account struct {
	name     string
	uid, gid int
	home     string
}

// accountFiles are the name databases that a run sees: itself, root and nobody.
func (a account) files() []sandbox.File {
	passwd := fmt.Sprintf("%s:x:%d:%d:%s:%s:/bin/sh\n", a.name, a.uid, a.gid, a.name, a.home)
	group := fmt.Sprintf("%s:x:%d:\n", a.name, a.gid)
	if a.uid != 0 {
		passwd = "root:x:0:0:root:/root:/bin/sh\n" + passwd
	}
	if a.gid != 0 {
		group = "root:x:0:\n" + group
	}
	passwd += "nobody:x:65534:65534:nobody:/:/bin/false\n"
	group += "nogroup:x:65534:\n"
	text := func(path, s string) sandbox.File { return sandbox.File{Target: path, Data: []byte(s), Mode: 0o444} }
	return []sandbox.File{
		text("/etc/passwd", passwd), text("/etc/group", group),
		text("/etc/hosts", "127.0.0.1 localhost "+hostname+"\n::1 localhost\n"),
		text("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
		text("/etc/hostname", hostname+"\n"),
		text("/etc/resolv.conf", ""),
	}
}

// thisAccount is the host user, whose home is replaced when the workspace would hide in it or hold it.
func thisAccount(home, root string) account {
	a := account{uid: os.Getuid(), gid: os.Getgid(), home: home}
	if u, err := user.LookupId(strconv.Itoa(a.uid)); err == nil {
		a.name = u.Username
	}
	if a.name == "" || strings.ContainsAny(a.name, ":\n/") {
		a.name = "user"
	}
	if !filepath.IsAbs(home) || filepath.Clean(home) != home || home == "/" || sandbox.Inside(home, root) ||
		sandbox.Inside(home, "/usr") || sandbox.Inside(home, "/run") || sandbox.Inside(home, "/proc") || sandbox.Inside(home, "/dev") {
		a.home = "/home/" + a.name
		if sandbox.Inside(a.home, root) {
			a.home = "/run/home"
		}
	}
	return a
}
