package env

import (
	"os"
	"path/filepath"
	"strings"
)

// Invocation says how interp runs the code in file, so that it behaves as code in the working folder does:
// the file itself lies outside the workspace, in a read-only folder, where it pollutes nothing.
//
// argv is the whole command. env are variables it needs, NAME=VALUE. links are symbolic links to make beside
// file: name to target.
//
//   - Python and Node look for modules beside the file, so a line of bootstrap makes the working folder their
//     start (see pythonStart and nodeStart).
//   - Lua, Octave, R, Haskell and PHP search the working folder by themselves; Ruby and Perl do for "./x";
//     go run takes the module of the working folder.
func Invocation(interp Interpreter, file, cwd, root string, args []string) (argv, env []string, links map[string]string) {
	argv = append(argv, interp.Argv...)
	env = append(env, interp.Env...)
	links = map[string]string{}
	name := interp.Language.Name
	switch {
	case name == "python":
		argv = append(argv, "-c", pythonStart)
		links[cwdLink] = cwd
	case (name == "node" || name == "typescript") && isNode(interp.Program):
		argv = append(argv, "-e", nodeStart, "--")
		links[cwdLink] = cwd
	}
	if modules := nodeModules(cwd, root); modules != "" && (name == "node" || name == "typescript") {
		links["node_modules"] = modules
	}
	argv = append(argv, file)
	return append(argv, args...), env, links
}

// cwdLink is a link to the working folder, into which the lines of bootstrap go once they have read the code: they may have
// been started before there was one (see Waiting).
const cwdLink = "cwd"

// isNode says whether a program is Node itself and not a runner of its own, such as tsx or deno.
func isNode(program string) bool {
	base := filepath.Base(program)
	return base == "node" || base == "nodejs"
}

// pythonStart runs the file that is its first argument as __main__, with the working folder first on sys.path.
//
// The other ways are worse. "python FILE" searches FILE's folder and not the working one. PYTHONPATH mends
// that, but every Python that the code starts inherits it: pip, or a tool of another version, would import
// the project's modules in place of its own. runpy gives __main__ a new namespace (pickle and
// multiprocessing trip over it) and costs its imports. "python -c CODE" has no __file__, no source lines
// in tracebacks, and a limit of 128 KiB. So -c runs these lines: Python itself decides what sys.path[0] is,
// PYTHONSAFEPATH included; the code runs in the real __main__ with its __file__, sys.argv and coding line;
// its namespace gets no other name; and tracebacks are stripped of the one frame that is ours.
const pythonStart = `import sys as _s
_s.argv=_s.argv[1:]
__file__=_s.argv[0]
def _h(k,e,t,h=_s.__excepthook__):
 if t and t.tb_frame.f_code.co_filename=='<string>':t=t.tb_next
 h(k,e.with_traceback(t),t)
_s.excepthook=_h
with open(__file__,'rb') as _s:_h=_s.read()
import os as _s
_s.chdir(__file__.rpartition('/')[0]+'/cwd')
_h=compile(_h,__file__,'exec',dont_inherit=True)
del _s
exec(globals().pop('_h'))`

// nodeStart runs the file that is its first argument as the main module, and resolves its imports as if it
// lay in the working folder: relative ones, and packages of every node_modules from there upwards.
//
// Node resolves from a file's own folder, and nothing but code changes that: NODE_PATH serves require() only,
// not import, and is inherited by children. For CommonJS it makes the main module by hand; for ES modules
// it uses the resolve hooks of Node 22.15 and later, or, for code that has a relative import, the slower
// hooks of 18.19 and later. Without hooks the node_modules link (nodeModules) still serves packages.
// What remains of -e: Node's built-in modules can be named without require, as in its prompt.
// An await that never ends gives status 13 and a warning, as with a main module.
const nodeStart = `{const M=require('module'),P=require('path'),U=require('url'),f=process.argv[1],` +
	`src=require('fs').readFileSync(f,'utf8');process.chdir(P.join(P.dirname(f),'cwd'));` +
	`const c=process.cwd(),at=P.join(c,P.basename(f));module.filename=P.join(c,'[eval]');module.paths=M._nodeModulePaths(c);` +
	`if(f.endsWith('.cjs')){const m=new M('.');m.filename=at;m.paths=M._nodeModulePaths(c);process.mainModule=m;` +
	`m._compile(src.replace(/^\uFEFF?#!.*/,''),f);m.loaded=true}` +
	`else{const u=U.pathToFileURL(f).href,b=U.pathToFileURL(at).href;` +
	`if(M.registerHooks)M.registerHooks({resolve:(s,x,n)=>n(s,x.parentURL===u?{...x,parentURL:b}:x)});` +
	`else if(M.register&&/['"]\.\.?\//.test(src))M.register('data:text/javascript,'+encodeURIComponent(` +
	"`export async function resolve(s,x,n){return n(s,x.parentURL===${JSON.stringify(u)}?{...x,parentURL:${JSON.stringify(b)}}:x)}`" +
	`));let d=false;process.once('beforeExit',()=>{if(!d){process.exitCode=13;` +
	`console.error('Warning: Detected unsettled top-level await')}});` +
	`import(u).finally(()=>{d=true})}}`

// nodeModules is the nearest node_modules of cwd, up to root; "" is none.
func nodeModules(cwd, root string) string {
	for dir := filepath.Clean(cwd); ; dir = filepath.Dir(dir) {
		modules := filepath.Join(dir, "node_modules")
		if info, err := os.Stat(modules); err == nil && info.IsDir() {
			return modules
		}
		if dir == filepath.Clean(root) || !within(dir, root) {
			return ""
		}
	}
}

// within says whether path is root or lies below it, by their names.
func within(path, root string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}
