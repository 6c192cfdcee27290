package host

import (
	"slices"
	"strings"
)

// packages name what to install, by the family of the system and the language. "" in the row is the fallback.
var packages = map[string]struct {
	command string
	names   map[string]string
}{
	"debian": {"apt-get install", map[string]string{"python": "python3", "node": "nodejs", "lua": "lua5.4", "haskell": "ghc",
		"go": "golang-go", "php": "php-cli", "r": "r-base-core"}},
	"fedora": {"dnf install", map[string]string{"python": "python3", "node": "nodejs", "haskell": "ghc", "go": "golang",
		"php": "php-cli", "r": "R-core"}},
	"arch": {"pacman -S", map[string]string{"node": "nodejs", "haskell": "ghc"}},
	"alpine": {"apk add", map[string]string{"python": "python3", "node": "nodejs", "lua": "lua5.4", "haskell": "ghc",
		"php": "php", "r": "R"}},
	"suse": {"zypper install", map[string]string{"python": "python3", "node": "nodejs", "lua": "lua54", "haskell": "ghc",
		"php": "php8-cli", "r": "R-base"}},
	"macos": {"brew install", map[string]string{"haskell": "ghc"}},
	"nixos": {"nix profile install", map[string]string{"python": "nixpkgs#python3", "bash": "nixpkgs#bash", "node": "nixpkgs#nodejs",
		"ruby": "nixpkgs#ruby", "perl": "nixpkgs#perl", "lua": "nixpkgs#lua5_4", "haskell": "nixpkgs#ghc", "octave": "nixpkgs#octave",
		"typescript": "nixpkgs#tsx", "go": "nixpkgs#go", "php": "nixpkgs#php", "r": "nixpkgs#R", "julia": "nixpkgs#julia"}},
}

// unpackaged are languages that distributions do not have, or only long out of date.
var unpackaged = map[string]string{
	"typescript": "npm install --global tsx, or install Node 22.6 or later",
}

// juliaup is how to get Julia where it is not packaged.
const juliaup = "install it with juliaup (julialang.org/downloads)"

// distribution is the family of the system that this machine runs, "" if unknown.
func (f *finder) distribution() string {
	text := f.read("/etc/os-release")
	ids := append([]string{osValue(text, "ID")}, strings.Fields(osValue(text, "ID_LIKE"))...)
	for _, id := range ids {
		switch {
		case id == "ubuntu":
			return "debian"
		case id == "rhel" || id == "centos":
			return "fedora"
		case strings.HasPrefix(id, "opensuse") || id == "sles":
			return "suse"
		case packages[id].command != "":
			return id
		}
	}
	if text == "" && f.isDir("/System/Library") {
		return "macos"
	}
	return ""
}

// osValue reads a key of os-release.
func osValue(text, key string) string {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && name == key {
			return strings.ToLower(strings.Trim(value, `"'`))
		}
	}
	return ""
}

// hint says why a language cannot be used, if a program of it was found, and how to get it.
func hint(reason, language, system string) string {
	how := install(language, system)
	if reason == "" {
		return how
	}
	return reason + "; or " + how
}

// install is how to get a language on a system.
func install(language, system string) string {
	row, known := packages[system]
	if how := unpackaged[language]; how != "" && system != "nixos" {
		return how
	}
	if language == "julia" && slices.Contains([]string{"debian", "fedora", "suse", "alpine", ""}, system) {
		return juliaup
	}
	name := row.names[language]
	if name == "" {
		name = language
	}
	if !known {
		return "install " + name + " so that it is on PATH"
	}
	return row.command + " " + name
}
