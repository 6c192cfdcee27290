package host

import "testing"

func TestNvm(t *testing.T) {
	const tools = `
x /home/me/.nvm/versions/node/v18.20.4/bin/node
d /home/me/.nvm/versions/node/v18.20.4/lib
x /home/me/.nvm/versions/node/v22.1.0/bin/node
d /home/me/.nvm/versions/node/v22.1.0/lib
f /home/me/.nvm/alias/lts/* lts/hydrogen
f /home/me/.nvm/alias/lts/hydrogen v18.20.4
`
	want := func(version, via string) string {
		prefix := "/home/me/.nvm/versions/node/" + version
		return prefix + "/bin/node, via " + via + ", bin " + prefix + "/bin, mount " + prefix
	}
	check(t, []findCase{
		{"PATH names it", tools, "/home/me/.nvm/versions/node/v18.20.4/bin", "node", want("v18.20.4", "PATH"), nil},
		{"the default alias", tools + "f /home/me/.nvm/alias/default 18", "", "node", want("v18.20.4", "nvm v18.20.4"), nil},
		{"an alias of an alias", tools + "f /home/me/.nvm/alias/default lts/*", "", "node", want("v18.20.4", "nvm v18.20.4"), nil},
		{"the newest", tools + "f /home/me/.nvm/alias/default node", "", "node", want("v22.1.0", "nvm v22.1.0"), nil},
		{"the project's file", tools + "f /home/me/.nvm/alias/default node\nf /home/me/ws/.nvmrc v18", "", "node", want("v18.20.4", "nvm v18.20.4"), nil},
		{".nvmrc", tools + "f /home/me/ws/.nvmrc 18.20.4", "", "node", want("v18.20.4", "nvm v18.20.4"), nil},
		{"a hostile .nvmrc falls back", tools + "f /home/me/.nvm/alias/default 18\nf /home/me/ws/.nvmrc ../../../.ssh/key", "", "node", want("v18.20.4", "nvm v18.20.4"), nil},
		{"an alias that names itself", tools + "f /home/me/.nvm/alias/default default", "", "node", "missing: install node so that it is on PATH", nil},
		{"PATH's own node comes first", tools + "x /usr/bin/node\nf /home/me/.nvm/alias/default 18", "/usr/bin", "node", "/usr/bin/node, via PATH", nil},
	})
}

func TestVolta(t *testing.T) {
	const tools = `
x /home/me/.volta/bin/volta-shim
l /home/me/.volta/bin/node volta-shim
x /home/me/.volta/tools/image/node/20.1.0/bin/node
d /home/me/.volta/tools/image/node/20.1.0/lib
x /home/me/.volta/tools/image/node/18.1.0/bin/node
d /home/me/.volta/tools/image/node/18.1.0/lib
f /home/me/.volta/tools/user/platform.json {"node":{"runtime":"20.1.0","npm":null}}
`
	want := func(version string) string {
		prefix := "/home/me/.volta/tools/image/node/" + version
		return prefix + "/bin/node, via volta " + version + ", bin " + prefix + "/bin, mount " + prefix
	}
	check(t, []findCase{
		{"the default", tools, "/home/me/.volta/bin", "node", want("20.1.0"), nil},
		{"the project's", tools + `f /home/me/ws/package.json {"volta":{"node":"18.1.0"}}`, "/home/me/.volta/bin", "node", want("18.1.0"), nil},
		{"a hostile project's", tools + `f /home/me/ws/package.json {"volta":{"node":"../../.."}}`, "/home/me/.volta/bin", "node",
			"missing: volta has no node for this folder (no version is set); or install node so that it is on PATH", nil},
	})
}

func TestTypeScript(t *testing.T) {
	header := func(major string) string {
		return `f /opt/node/include/node/node_version.h #define NODE_MAJOR_VERSION ` + major + `\n#define NODE_MINOR_VERSION 7\n#define NODE_PATCH_VERSION 1\n` + "\n"
	}
	const node = "x /opt/node/bin/node\nd /opt/node/lib\n"
	check(t, []findCase{
		{"a Node that can", node + header("22"), "/opt/node/bin", "typescript", "/opt/node/bin/node, via PATH, bin /opt/node/bin, mount /opt/node", nil},
		{"one that cannot", node + header("20"), "/opt/node/bin", "typescript",
			"missing: /opt/node/bin/node is version 20.7.1, and runs TypeScript from 22.6 on; or npm install --global tsx, or install Node 22.6 or later", nil},
		{"tsx beside it", node + header("20") + "x /opt/node/lib/node_modules/tsx/dist/cli.mjs\nl /opt/node/bin/tsx ../lib/node_modules/tsx/dist/cli.mjs", "/opt/node/bin", "typescript",
			"/opt/node/lib/node_modules/tsx/dist/cli.mjs, via PATH, bin /opt/node/bin, mount /opt/node", nil},
		{"tsx alone", "x /opt/t/lib/node_modules/tsx/dist/cli.mjs\nl /opt/t/bin/tsx ../lib/node_modules/tsx/dist/cli.mjs", "/opt/t/bin", "typescript",
			"missing: /opt/t/lib/node_modules/tsx/dist/cli.mjs needs node; or npm install --global tsx, or install Node 22.6 or later", nil},
		{"deno is one file", "x /home/me/.deno/bin/deno", "/home/me/.deno/bin", "typescript",
			"/home/me/.deno/bin/deno, via PATH, bin /home/me/.deno/bin, mount /home/me/.deno/bin/deno", nil},
	})
}
