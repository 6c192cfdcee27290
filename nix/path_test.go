package nix

import "testing"

// An environment that was built before is a store path, and nothing that looks like one.
func TestOutputPath(t *testing.T) {
	const good = "/nix/store/23fkszlp35idj8acllvkqb764cahipv1-jq-1.6"
	if err := (Spec{Output: Output{Path: good}}).Check(); err != nil {
		t.Error(err)
	}
	for _, o := range []Output{
		{Path: "/etc"}, {Path: "/nix/store"}, {Path: good + "/bin"}, {Path: "/nix/store/../../etc/23fkszlp35idj8acllvkqb764cahipv1-x"}, {Path: good + "\n"},
		{Path: good, Flake: "path:/x"}, {Path: good, Attr: "x"}, {Path: good, Shell: true}, {Path: good, File: "/x.nix"},
	} {
		if (Spec{Output: o}).Check() == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
