package workspace

import (
	"path/filepath"
	"strings"

	"code.sidecar.dev/workspace/looks"
)

// markers are files that only a project's top folder has, the most telling first: without a repository they
// decide what the root is.
var markers = []string{
	".sidecar.yaml", "flake.nix", "go.work", "go.mod", "package.json", "pyproject.toml", "Cargo.toml", "deno.json", "deno.jsonc",
	"mix.exs", "rebar.config", "Gemfile", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts",
	"composer.json", "CMakeLists.txt", "meson.build", "Makefile", "GNUmakefile", "justfile", "setup.py", "setup.cfg",
	"requirements.txt", "stack.yaml", "cabal.project", "dune-project", "build.sbt", "project.clj", "deps.edn", "shard.yml",
	"pubspec.yaml", "Package.swift", "Project.toml", "DESCRIPTION", "build.zig", "WORKSPACE", "MODULE.bazel", "shell.nix",
	"default.nix", ".hg", ".jj", ".sl", ".pijul", "_darcs", ".bzr",
}

// markerSuffixes are the same for names that a project chooses.
var markerSuffixes = []string{".cabal", ".sln", ".csproj", ".fsproj", ".nimble", ".gemspec", ".opam", ".rockspec"}

// markedRoot is the nearest folder from dir upwards that has a marker, and the marker; dir itself when there
// is none. It neither reaches nor passes the home folder or "/": a stray package.json there would otherwise
// make everything the user owns one project.
func markedRoot(l *looks.Looks, dir, home string) (root, marker string) {
	for d := dir; d != "/" && d != home; d = filepath.Dir(d) {
		if m := markerIn(l, d); m != "" {
			return d, m
		}
	}
	return dir, ""
}

func markerIn(l *looks.Looks, dir string) string {
	for _, m := range markers {
		if exists(l, filepath.Join(dir, m)) {
			return m
		}
	}
	for _, name := range list(l, dir).names() {
		for _, suffix := range markerSuffixes {
			if strings.HasSuffix(name, suffix) && len(name) > len(suffix) {
				return name
			}
		}
	}
	return ""
}
