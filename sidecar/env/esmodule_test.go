package env

import "testing"

func TestFileNameOfNodeCode(t *testing.T) {
	tests := []struct{ code, want string }{
		{"", "main.cjs"},
		{"console.log(1)", "main.cjs"},
		{"const fs = require('fs')", "main.cjs"},
		{"import fs from 'fs'", "main.mjs"},
		{"import 'fs'", "main.mjs"},
		{"import\n  * as fs from 'fs'", "main.mjs"},
		{"import{a}from'./a.js'", "main.mjs"},
		{"#!/usr/bin/env node\nimport fs from 'fs'", "main.mjs"},
		{"// import x from 'y'\nfoo()", "main.cjs"},
		{"/* a */ import x from 'y'", "main.mjs"},
		{"/*\nimport x from 'y'\n*/", "main.cjs"},
		{"'use strict'; import x from 'y'", "main.mjs"},
		{"'use strict'\nimport x from 'y'", "main.mjs"},
		{"\uFEFFimport x from 'y'", "main.mjs"},
		{"const s = `\nimport x from 'y'\n`", "main.cjs"},
		{"const s = 'import x'", "main.cjs"},
		{"import('fs').then(f => f)", "main.cjs"},
		{"const x = import('fs')", "main.cjs"},
		{"const { a } = await import('fs')", "main.mjs"},
		{"console.log(import.meta.url)", "main.mjs"},
		{"f(() => { console.log(import . meta.url) })", "main.mjs"},
		{"a.import.meta", "main.cjs"},
		{"module.exports = { import: 1, export: 2, await: 3 }", "main.cjs"},
		{"const o = {\n  import: 1,\n  export: 2\n}", "main.cjs"},
		{"export default 1", "main.mjs"},
		{"export const a = 1", "main.mjs"},
		{"export{a}", "main.mjs"},
		{"export * from 'x'", "main.mjs"},
		{"exports.a = 1", "main.cjs"},
		{"await f()", "main.mjs"},
		{"const r = await fetch('x')", "main.mjs"},
		{"if (x) {\n  await f()\n}", "main.mjs"},
		{"try { await f() } catch (e) { g() }", "main.mjs"},
		{"try { f() } catch (e) { await g() }", "main.mjs"},
		{"for await (const x of y) { f(x) }", "main.mjs"},
		{"for (const x of y) { await f(x) }", "main.mjs"},
		{"console.log(await f())", "main.mjs"},
		{"console.log(`${await f()}`)", "main.mjs"},
		{"`${a}`; await b()", "main.mjs"},
		{"async function f() { await g() }", "main.cjs"},
		{"async function f() { if (a) { await g() } }\nf()", "main.cjs"},
		{"(async () => { await g() })()", "main.cjs"},
		{"(async function () { await g() })()", "main.cjs"},
		{"const f = async () => await g()", "main.cjs"},
		{"const f = async () =>\n  await g()", "main.cjs"},
		{"const f = async () => g()\nawait f()", "main.mjs"},
		{"const f = async () => { await g() }\nawait f()", "main.mjs"},
		{"const f = async x => h(await g(x))", "main.cjs"},
		{"xs.map(async x => [await g(x)])", "main.cjs"},
		{"await Promise.all(xs.map(async x => g(x)))", "main.mjs"},
		{"const o = { async m() { await g() } }", "main.cjs"},
		{"class A { async m(a) { await g() } async *[Symbol.iterator]() { await h() } }", "main.cjs"},
		{"class A { async m() { for (const x of y) { await x } } }\nnew A().m()", "main.cjs"},
		{"for await (const x of y) f(x)", "main.mjs"},
		{"async function f() { for await (const x of y) { await x } }", "main.cjs"},
		{"const await = 1", "main.cjs"},
		{"const r = /import x from 'y'/; f(r)", "main.cjs"},
		{"const r = /[/'\"`]/\nawait f()", "main.mjs"},
		{"const q = a / b; const s = '/'; await f()", "main.mjs"},
		{"if (a) /'/.test(b)\nawait f()", "main.mjs"},
		{"const u = 'unterminated\nimport x from 'y'", "main.mjs"},
		{"`unterminated", "main.cjs"},
		{"'\\", "main.cjs"},
		{"`\\", "main.cjs"},
		{"/* open", "main.cjs"},
		{"/open\\", "main.cjs"},
		{")]}", "main.cjs"},
	}
	node, err := Lookup("js")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		if got := FileName(node, tt.code); got != tt.want {
			t.Errorf("FileName of %q = %s, want %s", tt.code, got, tt.want)
		}
	}
}

func FuzzIsModule(f *testing.F) {
	for _, seed := range []string{"await f()", "`${`${1}`}`", "/[/]/", "'\\", "{([`"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, code string) { isModule(code) })
}
