package main

import (
	"runtime/debug"
	"testing"
)

func TestShownVersion(t *testing.T) {
	vcs := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "34169a7d0c0c7f51112233445566778899aabbcc"}, {Key: "vcs.time", Value: "2026-11-30T18:40:00Z"}, {Key: "vcs.modified", Value: "false"}}
	changed := append(vcs[:3:3], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for _, is := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string
	}{
		{"v1.2.0", vcs, "v1.2.0"},
		{"dev", nil, "dev"},
		{"dev", vcs, "dev (commit 34169a7d0c0c of 2026-11-30)"},
		{"dev", changed, "dev (commit 34169a7d0c0c of 2026-11-30, changed since)"},
		{"dev", vcs[:2], "dev (commit 34169a7d0c0c)"},
	} {
		if got := shown(is.version, is.settings); got != is.want {
			t.Errorf("%s, want %s", got, is.want)
		}
	}
}
