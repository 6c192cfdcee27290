package sidecar

import (
	"testing"

	"code.sidecar.dev/sidecar/config"
)

func TestIsTree(t *testing.T) {
	for path, want := range map[string]bool{
		"worktrees/project-0123/fix": true, "worktrees/project-0123/fix/src/deep": true,
		"worktrees/project-0123/.records": false, "worktrees/project-0123/.records/x": false, "worktrees/project-0123/.git-1": false,
		"worktrees/project-0123": false, "worktrees": false, "": false, "/state/sidecar": false, "homes/claude/x": false, "trust/worktrees/x/y": false,
	} {
		if got := isTree(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// TestShut: who said that nothing is to be reached is not asked about it.
func TestShut(t *testing.T) {
	none, some := &config.Domains{}, &config.Domains{Names: []config.Domain{{Name: "a.example"}}}
	for name, test := range map[string]struct {
		granted granted
		want    bool
	}{
		"by default":     {granted{}, false},
		"a profile":      {granted{profile: config.Profile{Network: "none"}}, true},
		"the project":    {granted{reach: config.Reach{Shut: true}}, true},
		"no names":       {granted{reach: config.Reach{Lists: []*config.Domains{some, none}}}, true},
		"some names":     {granted{reach: config.Reach{Lists: []*config.Domains{some}}}, false},
		"the open world": {granted{reach: config.Reach{Open: true}}, false},
	} {
		if got := test.granted.shut(); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
