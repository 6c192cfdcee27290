package workspace

// HarmlessGlobal is the text of a git config file for runs: identity and harmless settings of the host's config.
func HarmlessGlobal(ws *Workspace, env func(string) string) string {
	return "[safe]\n\tdirectory = *\n"
}

// SubmoduleSettings are config keys and values that make "git submodule init" need no write to the config.
func SubmoduleSettings(ws *Workspace) [][2]string { return nil }
