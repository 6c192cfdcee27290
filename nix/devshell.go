package nix

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// builderVariables are those of Nix's builder that mean nothing, or something else, in a shell.
var builderVariables = []string{
	"BASHOPTS", "SHELLOPTS", "HOME", "HOSTNAME", "IFS", "NIX_BUILD_CORES", "NIX_BUILD_TOP", "NIX_ENFORCE_PURITY", "NIX_LOG_FD",
	"NIX_REMOTE", "OLDPWD", "PPID", "PWD", "SHELL", "SHLVL", "SSL_CERT_FILE", "TEMP", "TEMPDIR", "TERM", "TMP", "TMPDIR", "TZ", "UID", "USER", "_",
	"builder", "shellHook", "out", "outputs", "phases", "LINENO", "OPTIND", "OPTERR",
}

// makeShell builds what a dev shell needs, and takes its variables. Their closure is that of the file in
// which Nix notes them.
func (s *Store) makeShell(ctx context.Context, t target, job job, built *Built) error {
	profile := s.rootLink(t.key) + ".shell"
	defer dropProfile(profile)
	args := append([]string{"print-dev-env", "--json", "--profile", profile}, t.output()...)
	out, err := s.nix(ctx, job, args...)
	if err != nil {
		return err
	}
	if built.Variables, built.Hook, err = parseDevEnv(out); err != nil {
		return &EvalError{What: job.what, Reason: "nix print-dev-env printed no variables: " + err.Error()}
	}
	path, err := profilePath(profile)
	if err != nil {
		return err
	}
	built.Out = path
	return s.keep(ctx, job, path, s.rootLink(t.key))
}

// profilePath is the store path that a profile's last generation leads to.
func profilePath(profile string) (string, error) {
	generation, err := os.Readlink(profile)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(generation) {
		generation = filepath.Join(filepath.Dir(profile), generation)
	}
	return os.Readlink(generation)
}

// dropProfile removes a profile and its generations.
func dropProfile(profile string) {
	links, _ := filepath.Glob(profile + "*")
	for _, link := range links {
		_ = os.Remove(link)
	}
}

// parseDevEnv reads nix print-dev-env --json: the exported variables, and the shell's hook.
func parseDevEnv(text []byte) (variables map[string]string, hook string, err error) {
	var env struct {
		Variables map[string]struct {
			Type  string
			Value json.RawMessage
		}
	}
	if err := json.Unmarshal(text, &env); err != nil {
		return nil, "", err
	}
	variables = map[string]string{}
	for name, v := range env.Variables {
		var value string
		if json.Unmarshal(v.Value, &value) != nil {
			continue // an array, which cannot be exported
		}
		switch {
		case name == "shellHook":
			hook = value
		case v.Type == "exported" && !slices.Contains(builderVariables, name) && !strings.ContainsAny(name, "=\x00") && !strings.Contains(value, "\x00"):
			variables[name] = value
		}
	}
	return variables, hook, nil
}
