package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"code.sidecar.dev/sidecar/protocol"
)

// version is set by the linker for releases ("v1.2.0").
var version = "dev"

// shown is the version for people: of what is no release, with the commit that it was built of, where that is known.
func shown(version string, settings []debug.BuildSetting) string {
	of := map[string]string{}
	for _, s := range settings {
		of[s.Key] = s.Value
	}
	commit := of["vcs.revision"]
	if version != "dev" || commit == "" {
		return version
	}
	text := version + " (commit " + commit[:min(len(commit), 12)]
	if at, _, ok := strings.Cut(of["vcs.time"], "T"); ok {
		text += " of " + at
	}
	if of["vcs.modified"] == "true" {
		text += ", changed since"
	}
	return text + ")"
}

// buildSettings are what Go noted of the build.
func buildSettings() []debug.BuildSetting {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info.Settings
	}
	return nil
}

// build is this program. The file's time is that of the file that runs, also when another one took its place since.
func build() protocol.Build {
	b := protocol.Build{Version: version}
	name := "/proc/self/exe"
	if runtime.GOOS != "linux" {
		name, _ = os.Executable()
	}
	if info, err := os.Stat(name); err == nil {
		b.Time = info.ModTime()
	}
	return b
}
