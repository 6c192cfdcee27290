package host

import "testing"

// uvTree has a Python that uv installed, with the link for its minor version, and a virtual environment.
const uvTree = `
x /home/me/.local/share/uv/python/cpython-3.12.1-linux/bin/python3.12
d /home/me/.local/share/uv/python/cpython-3.12.1-linux/lib
l /home/me/.local/share/uv/python/cpython-3.12-linux cpython-3.12.1-linux
l /home/me/ws/.venv/bin/python /home/me/.local/share/uv/python/cpython-3.12-linux/bin/python3.12
l /home/me/ws/.venv/bin/python3 python
f /home/me/ws/.venv/pyvenv.cfg home = /home/me/.local/share/uv/python/cpython-3.12-linux/bin\nversion = 3.12.1
`

const venv = "/home/me/ws/.venv/bin"

func TestVirtualEnv(t *testing.T) {
	const uv = "/home/me/ws/.venv/bin/python3, via virtual environment /home/me/ws/.venv, bin /home/me/ws/.venv/bin, " +
		"mount /home/me/.local/share/uv/python/cpython-3.12-linux, mount /home/me/.local/share/uv/python/cpython-3.12.1-linux"
	check(t, []findCase{
		{"on PATH", uvTree, venv + ":/usr/bin", "python", uv, nil},
		{"by VIRTUAL_ENV", uvTree + "x /usr/bin/python3", "/usr/bin", "python", uv, []string{"VIRTUAL_ENV=/home/me/ws/.venv"}},
		{"not by itself", uvTree + "x /usr/bin/python3", "/usr/bin", "python", pythonUsr, nil},
		{"of the system's Python", "x /usr/bin/python3.11\nl /usr/bin/python3 python3.11\nl /home/me/ws/.venv/bin/python3 /usr/bin/python3\nf /home/me/ws/.venv/pyvenv.cfg home = /usr/bin",
			venv, "python", "/home/me/ws/.venv/bin/python3, via virtual environment /home/me/ws/.venv, bin /home/me/ws/.venv/bin", nil},
		{"outside the workspace", "x /usr/bin/python3\nl /home/me/.virtualenvs/a/bin/python3 /usr/bin/python3\nf /home/me/.virtualenvs/a/pyvenv.cfg home = /usr/bin",
			"/home/me/.virtualenvs/a/bin", "python", "/home/me/.virtualenvs/a/bin/python3, via virtual environment /home/me/.virtualenvs/a, bin /home/me/.virtualenvs/a/bin, mount /home/me/.virtualenvs/a", nil},
		{"of a Python elsewhere on PATH", "x /srv/py/bin/python3\nd /srv/py/lib\nl /home/me/ws/.venv/bin/python3 /srv/py/bin/python3\nf /home/me/ws/.venv/pyvenv.cfg home = /srv/py/bin",
			venv + ":/srv/py/bin", "python", "/home/me/ws/.venv/bin/python3, via virtual environment /home/me/ws/.venv, bin /home/me/ws/.venv/bin, mount /srv/py", nil},
		{"conda's is a prefix", "x /home/me/miniconda3/envs/a/bin/python3.12\nl /home/me/miniconda3/envs/a/bin/python3 python3.12\nd /home/me/miniconda3/envs/a/lib",
			"/home/me/miniconda3/envs/a/bin", "python", "/home/me/miniconda3/envs/a/bin/python3.12, via PATH, bin /home/me/miniconda3/envs/a/bin, mount /home/me/miniconda3/envs/a", nil},
	})
}

// A run can rewrite the virtual environment in its workspace; the next run must not see more for it.
func TestHostileVirtualEnv(t *testing.T) {
	const secret = "x /home/me/.secret/bin/python3\nd /home/me/.secret/lib\nf /home/me/.aws/credentials x\nx /usr/bin/python3.11\n"
	const installed = "; or install python so that it is on PATH"
	check(t, []findCase{
		{"its link leads to a private folder", secret + "l /home/me/ws/.venv/bin/python3 /home/me/.secret/bin/python3\nf /home/me/ws/.venv/pyvenv.cfg home = /usr/bin", venv, "python",
			"missing: the virtual environment lies where runs write and leads to /home/me/.secret/bin/python3, which is not among the Pythons installed; put its folder on PATH" + installed, nil},
		{"its config names one", secret + "l /home/me/ws/.venv/bin/python3 /usr/bin/python3.11\nf /home/me/ws/.venv/pyvenv.cfg home = /home/me/.aws", venv, "python",
			"missing: the virtual environment lies where runs write and leads to /home/me/.aws/python3.11, which is not among the Pythons installed; put its folder on PATH" + installed, nil},
		{"it is a link itself", secret + "l /home/me/ws/.venv /home/me/.secret\nf /home/me/.secret/pyvenv.cfg home = /usr/bin", venv, "python",
			"missing: /home/me/ws/.venv/bin/python3 lies in the workspace and leads out of it, to /home/me/.secret" + installed, nil},
		{"no environment, just a link", secret + "l /home/me/ws/.venv/bin/python3 /home/me/.secret/bin/python3", venv, "python",
			"missing: /home/me/ws/.venv/bin/python3 lies in the workspace and leads to /home/me/.secret/bin/python3, which no folder of PATH outside it names" + installed, nil},
		{"a link within the workspace is fine", "x /home/me/ws/opt/python3.9\nl /home/me/ws/.venv/bin/python3 ../../opt/python3.9", venv, "python",
			"/home/me/ws/opt/python3.9, via PATH, bin /home/me/ws/.venv/bin", nil},
		{"another program of PATH is not a Python", "x /home/me/tools/bin/sync\nd /home/me/tools/lib\nl /home/me/ws/.venv/bin/python3 /home/me/tools/bin/sync\nf /home/me/ws/.venv/pyvenv.cfg home = /usr/bin",
			venv + ":/home/me/tools/bin", "python",
			"missing: the virtual environment lies where runs write and leads to /home/me/tools/bin/sync, which is not among the Pythons installed; put its folder on PATH" + installed, nil},
	})
}
