package env

import "testing"

func TestLanguageOf(t *testing.T) {
	for _, tt := range []struct{ name, code, want string }{
		{"a.py", "", "python"}, {"A.R", "", "r"}, {"x.mjs", "", "node"}, {"README", "hello", ""},
		{"tool", "#!/usr/bin/env python3\n", "python"}, {"tool", "#!/usr/bin/env -S python3.12 -u\n", "python"},
		{"tool", "#!/bin/bash -e", "bash"}, {"tool", "#!/bin/sh", "bash"}, {"tool.py", "#!/usr/bin/unknown", "python"},
		{"tool", "#! /usr/bin/env A=1 node", "node"}, {"tool", "#!", ""},
	} {
		if got := LanguageOf(tt.name, tt.code); got != tt.want {
			t.Errorf("LanguageOf(%q, %q) = %q, want %q", tt.name, tt.code, got, tt.want)
		}
	}
}
