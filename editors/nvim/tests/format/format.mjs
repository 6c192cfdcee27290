// Says which Lua files of the plugin are not formatted; with --write formats them. It has stylua as a module, whose
// settings are here and, for editors, in stylua.toml.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Config, IndentType, OutputVerification, QuoteStyle, formatCode } from '@johnnymorganz/stylua'

const plugin = join(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '../..')
const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '*.lua'], { cwd: plugin })

function formatted(text) {
  const config = Config.new()
  config.column_width = 120
  config.indent_type = IndentType.Spaces
  config.indent_width = 2
  config.quote_style = QuoteStyle.AutoPreferSingle
  return formatCode(text, config, undefined, OutputVerification.Full)
}

let bad = 0
const generated = 'lua/sidecar/protocol.lua' // by go generate ./sidecar/protocol, in its own form
for (const name of listed.toString().split('\0').filter((name) => name && name !== generated)) {
  const file = join(plugin, name)
  const text = readFileSync(file, 'utf8')
  const want = formatted(text)
  if (text === want || text.includes('Made by go generate')) continue
  if (process.argv.includes('--write')) writeFileSync(file, want)
  else bad++, console.log(`not formatted: ${name}`)
}
process.exit(bad ? 1 : 0)
