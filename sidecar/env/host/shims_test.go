package host

import "testing"

// pyenvTree has three Pythons, a system's one, and shims.
const pyenvTree = `
x /usr/bin/python3
x /home/me/.pyenv/shims/python3
x /home/me/.pyenv/versions/3.11.4/bin/python3.11
l /home/me/.pyenv/versions/3.11.4/bin/python3 python3.11
d /home/me/.pyenv/versions/3.11.4/lib
x /home/me/.pyenv/versions/3.12.1/bin/python3
d /home/me/.pyenv/versions/3.12.1/lib
x /home/me/.pyenv/versions/3.12.10/bin/python3
d /home/me/.pyenv/versions/3.12.10/lib
d /home/me/.pyenv/versions/3.13.0
`

const pyenvPath = "/home/me/.pyenv/shims:/usr/bin"

const (
	python311  = "/home/me/.pyenv/versions/3.11.4/bin/python3.11, via pyenv 3.11.4, bin /home/me/.pyenv/versions/3.11.4/bin, mount /home/me/.pyenv/versions/3.11.4"
	python3121 = "/home/me/.pyenv/versions/3.12.1/bin/python3, via pyenv 3.12.1, bin /home/me/.pyenv/versions/3.12.1/bin, mount /home/me/.pyenv/versions/3.12.1"
	python312  = "/home/me/.pyenv/versions/3.12.10/bin/python3, via pyenv 3.12.10, bin /home/me/.pyenv/versions/3.12.10/bin, mount /home/me/.pyenv/versions/3.12.10"
	pythonUsr  = "/usr/bin/python3, via PATH"
)

func TestPyenv(t *testing.T) {
	check(t, []findCase{
		{"no version set is the system's", pyenvTree, pyenvPath, "python", pythonUsr, nil},
		{"the global version", pyenvTree + `f /home/me/.pyenv/version 3.11.4\n`, pyenvPath, "python", python311, nil},
		{"the project's before the global", pyenvTree + "f /home/me/.pyenv/version 3.12.1\nf /home/me/ws/.python-version 3.11.4", pyenvPath, "python", python311, nil},
		{"a parent folder's", pyenvTree + "f /home/me/.python-version 3.11.4", pyenvPath, "python", python311, nil},
		{"not above the home", pyenvTree + "f /home/.python-version 3.11.4", pyenvPath, "python", pythonUsr, nil},
		{"the variable before all", pyenvTree + "f /home/me/ws/.python-version 3.11.4", pyenvPath, "python", python3121, []string{"PYENV_VERSION=3.12.1"}},
		{"a prefix is its newest", pyenvTree + "f /home/me/ws/.python-version 3.12", pyenvPath, "python", python312, nil},
		{"several, the first that has it", pyenvTree + `f /home/me/ws/.python-version 3.13.0\n3.12.1\n`, pyenvPath, "python", python3121, nil},
		{"several with colons", pyenvTree, pyenvPath, "python", python3121, []string{"PYENV_VERSION=3.12.1:3.11"}},
		{"comments, spaces and the implementation's name", pyenvTree + `f /home/me/ws/.python-version # mine\n\n  python-3.11.4 # x`, pyenvPath, "python", python311, nil},
		{"system", pyenvTree + "f /home/me/.pyenv/version 3.12.1\nf /home/me/ws/.python-version system", pyenvPath, "python", pythonUsr, nil},
		{"not installed goes on along PATH", pyenvTree + "f /home/me/ws/.python-version 3.9.1", pyenvPath, "python", pythonUsr, nil},
		{"not installed, and nothing else", pyenvTree + "f /home/me/ws/.python-version 3.9.1", "/home/me/.pyenv/shims", "python",
			"missing: pyenv has no python3 for version 3.9.1; or install python so that it is on PATH", nil},
		{"another root", "x /srv/py/shims/python3\nx /srv/py/versions/3.1.1/bin/python3\nd /srv/py/versions/3.1.1/lib\nf /srv/py/version 3.1.1", "/srv/py/shims", "python",
			"/srv/py/versions/3.1.1/bin/python3, via pyenv 3.1.1, bin /srv/py/versions/3.1.1/bin, mount /srv/py/versions/3.1.1", []string{"PYENV_ROOT=/srv/py"}},
		{"an environment of pyenv-virtualenv", pyenvTree + `
			f /home/me/.pyenv/versions/3.11.4/envs/web/pyvenv.cfg home = /home/me/.pyenv/versions/3.11.4/bin
			l /home/me/.pyenv/versions/3.11.4/envs/web/bin/python3 /home/me/.pyenv/versions/3.11.4/bin/python3.11
			l /home/me/.pyenv/versions/web /home/me/.pyenv/versions/3.11.4/envs/web
			f /home/me/ws/.python-version web`, pyenvPath, "python",
			"/home/me/.pyenv/versions/3.11.4/envs/web/bin/python3, via pyenv web, bin /home/me/.pyenv/versions/3.11.4/envs/web/bin, mount /home/me/.pyenv/versions/3.11.4", nil},
	})
}

func TestRelativesOfPyenv(t *testing.T) {
	rows := []struct{ manager, language, program, file string }{
		{"rbenv", "ruby", "ruby", ".ruby-version"}, {"nodenv", "node", "node", ".node-version"},
		{"plenv", "perl", "perl", ".perl-version"}, {"goenv", "go", "go", ".go-version"},
		{"luaenv", "lua", "lua", ".lua-version"}, {"phpenv", "php", "php", ".php-version"},
	}
	for _, row := range rows {
		root := "/home/me/." + row.manager
		prefix := root + "/versions/5.4.1"
		check(t, []findCase{{row.manager,
			"x " + root + "/shims/" + row.program + "\nx " + prefix + "/bin/" + row.program + "\nd " + prefix + "/lib\nf /home/me/ws/" + row.file + " 5.4.1",
			root + "/shims", row.language,
			prefix + "/bin/" + row.program + ", via " + row.manager + " 5.4.1, bin " + prefix + "/bin, mount " + prefix, nil}})
	}
}

func TestAsdf(t *testing.T) {
	const tools = `
x /home/me/.asdf/shims/python3
x /home/me/.asdf/shims/node
x /home/me/.asdf/shims/go
x /home/me/.asdf/installs/python/3.11.4/bin/python3
d /home/me/.asdf/installs/python/3.11.4/lib
x /home/me/.asdf/installs/nodejs/20.1.0/bin/node
d /home/me/.asdf/installs/nodejs/20.1.0/lib
x /home/me/.asdf/installs/golang/1.22.0/go/bin/go
d /home/me/.asdf/installs/golang/1.22.0/go/lib
`
	const shims = "/home/me/.asdf/shims"
	python := "/home/me/.asdf/installs/python/3.11.4/bin/python3, via asdf 3.11.4, bin /home/me/.asdf/installs/python/3.11.4/bin, mount /home/me/.asdf/installs/python/3.11.4"
	check(t, []findCase{
		{"the project's file", tools + `f /home/me/ws/.tool-versions # x\nruby 1.2\npython 3.11.4\n`, shims, "python", python, nil},
		{"the home's file", tools + `f /home/me/.tool-versions python 3.9.9 3.11.4`, shims, "python", python, nil},
		{"the variable", tools, shims, "python", python, []string{"ASDF_PYTHON_VERSION=3.11.4"}},
		{"nodejs is node", tools + `f /home/me/ws/.tool-versions nodejs 20.1.0`, shims, "node",
			"/home/me/.asdf/installs/nodejs/20.1.0/bin/node, via asdf 20.1.0, bin /home/me/.asdf/installs/nodejs/20.1.0/bin, mount /home/me/.asdf/installs/nodejs/20.1.0", nil},
		{"golang has a folder of its own", tools + `f /home/me/ws/.tool-versions golang 1.22.0`, shims, "go",
			"/home/me/.asdf/installs/golang/1.22.0/go/bin/go, via asdf 1.22.0, bin /home/me/.asdf/installs/golang/1.22.0/go/bin, mount /home/me/.asdf/installs/golang/1.22.0/go", nil},
		{"no version", tools, shims, "python", "missing: asdf has no python3 for this folder (no version is set); or install python so that it is on PATH", nil},
		{"system", tools + "x /usr/bin/python3\nf /home/me/ws/.tool-versions python system", shims + ":/usr/bin", "python", pythonUsr, nil},
		{"a path is no version", tools + "f /home/me/ws/.tool-versions python path:/home/me/.ssh", shims, "python",
			"missing: asdf has no python3 for this folder (no version is set); or install python so that it is on PATH", nil},
	})
}

func TestMise(t *testing.T) {
	const tools = `
x /home/me/.local/bin/mise
l /home/me/.local/share/mise/shims/python3 /home/me/.local/bin/mise
x /home/me/.local/share/mise/installs/python/3.12.1/bin/python3.12
l /home/me/.local/share/mise/installs/python/3.12.1/bin/python3 python3.12
d /home/me/.local/share/mise/installs/python/3.12.1/lib
l /home/me/.local/share/mise/installs/python/3.12 ./3.12.1
`
	const shims = "/home/me/.local/share/mise/shims"
	const prefix = "/home/me/.local/share/mise/installs/python/3.12.1"
	want := func(version string) string {
		return prefix + "/bin/python3.12, via mise " + version + ", bin " + prefix + "/bin, mount " + prefix
	}
	check(t, []findCase{
		{"mise.toml", tools + `f /home/me/ws/mise.toml [env]\npython = "9"\n[tools]\npython = "3.12.1"`, shims, "python", want("3.12.1"), nil},
		{"a link for the prefix", tools + `f /home/me/ws/mise.toml [tools]\npython = "3.12" # x`, shims, "python", want("3.12"), nil},
		{"a list", tools + `f /home/me/ws/.mise.toml [tools]\n"python" = ["3.9", '3.12.1']`, shims, "python", want("3.12.1"), nil},
		{"a table", tools + `f /home/me/ws/mise.toml [tools]\npython = {virtualenv=".venv", version="3.12.1"}`, shims, "python", want("3.12.1"), nil},
		{"a section", tools + `f /home/me/ws/mise.toml [tools.python]\nversion = "3.12.1"`, shims, "python", want("3.12.1"), nil},
		{"the user's", tools + `f /home/me/.config/mise/config.toml [tools]\npython = "latest"`, shims, "python", want("3.12.1"), nil},
		{".tool-versions", tools + `f /home/me/ws/.tool-versions python 3.12.1`, shims, "python", want("3.12.1"), nil},
		{"the variable", tools, shims, "python", want("3.12.1"), []string{"MISE_PYTHON_VERSION=3.12.1"}},
		{"a link to mise elsewhere", tools + "l /home/me/bin/python3 ../.local/bin/mise\nf /home/me/ws/mise.toml [tools]\\npython = '3.12.1'", "/home/me/bin", "python", want("3.12.1"), nil},
		{"activated, so that PATH names the version", tools, prefix + "/bin", "python",
			prefix + "/bin/python3.12, via PATH, bin " + prefix + "/bin, mount " + prefix, nil},
	})
}

func TestHostileVersionsChooseOnlyWhatIsInstalled(t *testing.T) {
	for _, version := range []string{"../../../.ssh", "..", ".", "/home/me/.ssh", "3.11.4/../../../.ssh", "-x", "$(id)", "3.1*", ""} {
		hostile := pyenvTree + "x /home/me/.ssh/bin/python3\nd /home/me/.ssh/lib\nf /home/me/ws/.python-version " + version
		check(t, []findCase{{"version " + version, hostile, pyenvPath, "python", pythonUsr, nil}})
	}
}
