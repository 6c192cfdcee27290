local T = ...

local function stop()
  for _, c in ipairs(vim.lsp.get_clients({ name = 'sidecar' })) do
    c.stop(true)
  end
  T.wait('the end of the client', function()
    return not T.client()
  end)
end

T.test('checkhealth is green', function()
  T.project('health')
  vim.cmd('checkhealth sidecar')
  local text = T.text(0)
  T.has(text, 'the options are right')
  T.has(text, '/projects/health: process ')
  T.has(text, 'OK sandbox: ')
  assert(not text:find('ERROR'), text)
end)

T.test('no program: said, with what to do', function()
  stop()
  T.project('missing', 'a.sh', 'echo')
  vim.g.sidecar = { command = '/nowhere/sidecar' }
  vim.cmd('Sidecar run')
  T.output('/nowhere/sidecar is not to be found: install sidecar')
  vim.cmd('Sidecar runs')
  T.noticed('is not to be found')
  vim.cmd('checkhealth sidecar')
  T.has(T.text(0), 'ERROR /nowhere/sidecar is not to be found')
end)

T.test('a program that is too old: said', function()
  local old = T.dir .. '/old'
  vim.fn.writefile({ '#!/bin/sh', 'echo "unknown command $1" >&2; exit 64' }, old)
  vim.fn.setfperm(old, 'rwxr-xr-x')
  T.project('old', 'a.sh', 'echo')
  vim.g.sidecar = { command = old }
  vim.cmd('Sidecar run')
  T.output('is it older than this plugin?')
  T.eq(T.client(), nil)
end)

T.test('options are checked', function()
  vim.g.sidecar = { lines = 'many', colour = true }
  local all, wrong = require('sidecar.options').read(vim.g.sidecar)
  table.sort(wrong)
  T.eq(all.lines, 10000)
  T.has(wrong[1], 'option colour is unknown; known are command, ')
  T.eq(wrong[2], 'option lines is "many"; it must be a number from 100 to 1000000')
  T.eq(require('sidecar.options').read({ colors = false }).colors, false)
end)

T.test('completion', function()
  T.eq(vim.fn.getcompletion('Sidecar ', 'cmdline'), { 'cancel', 'envs', 'output', 'run', 'runs', 'status' })
  T.eq(vim.fn.getcompletion('Sidecar ru', 'cmdline'), { 'run', 'runs' })
  T.eq(vim.fn.getcompletion('Sidecar run py', 'cmdline'), { 'python' })
  vim.cmd('Sidecar nothing')
  T.noticed('nothing is unknown; known are cancel, ')
end)

T.test('help: tags are found, and the options are those of the schema', function()
  local docs = T.dir .. '/docs'
  vim.fn.mkdir(docs .. '/doc', 'p')
  local lines = vim.fn.readfile(T.plugin .. '/doc/sidecar.txt')
  vim.fn.writefile(lines, docs .. '/doc/sidecar.txt')
  vim.cmd.helptags(docs .. '/doc')
  vim.opt.rtp:append(docs)
  for _, tag in ipairs({ 'sidecar', ':Sidecar', 'sidecar-option-lines', 'sidecar-mappings', 'sidecar.statusline()' }) do
    vim.cmd.help(tag)
    T.has(vim.api.nvim_get_current_line(), '*' .. tag .. '*')
    vim.cmd.helpclose()
  end
  local want = table.concat(require('sidecar.options').help(), '\n')
  T.has(table.concat(lines, '\n'), want)
end)

T.test('lsp/sidecar.lua is a configuration', function()
  local config = dofile(T.plugin .. '/lsp/sidecar.lua')
  T.eq({ config.name, config.cmd, config.init_options }, {
    'sidecar',
    { 'sidecar', 'lsp' },
    { protocol = 1, output = 'own', approvals = true },
  })
end)

T.test('times and durations', function()
  local say = require('sidecar.say')
  T.eq(say.seconds('2026-11-29T20:15:01.5Z'), 1795983301.5)
  T.eq(say.seconds('2026-11-29T22:15:01+02:00'), 1795983301)
  T.eq(say.seconds('nothing'), 0)
  T.eq(vim.tbl_map(say.elapsed, { 61, 1500, 61000, 7260000 }), { '61 ms', '1.5 s', '1 min 01 s', '2 h 01 min' })
  T.eq(vim.tbl_map(say.size, { 999, 1000, 2500000 }), { '999 B', '1.0 kB', '2.5 MB' })
end)

T.test('a Neovim that is too old: said, and nothing done', function()
  local command =
    { 'env', '-u', 'VIM', '-u', 'VIMRUNTIME', vim.env.TEST_OLD, '--headless', '-u', 'NONE', '-i', 'NONE', '-n' }
  vim.list_extend(command, { '--cmd', 'set rtp^=' .. T.plugin, '-c', 'runtime plugin/sidecar.lua' })
  vim.list_extend(command, { '-c', "echo exists(':Sidecar')", '-c', 'qall' })
  local done = vim.system(command, { text = true }):wait(10000)
  T.has(done.stderr, 'this plugin wants Neovim 0.10 or newer')
  T.eq(done.stderr:match('%d+%s*$'), '0')
end)
