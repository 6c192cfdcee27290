-- Commands and mappings; the rest is loaded when one of them is used.
if vim.g.loaded_sidecar then
  return
end
vim.g.loaded_sidecar = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('sidecar: this plugin wants Neovim 0.10 or newer; it does nothing here', vim.log.levels.WARN)
  return
end

vim.api.nvim_create_user_command('Sidecar', function(call)
  require('sidecar.command').call(call)
end, {
  nargs = '*',
  range = true,
  desc = 'Run code in the sandbox of the project, and see all runs',
  complete = function(lead, line)
    return require('sidecar.command').complete(lead, line)
  end,
})

local function map(modes, name, what, desc)
  vim.keymap.set(modes, '<Plug>(sidecar-' .. name .. ')', function()
    what(require('sidecar'))
  end, { desc = 'sidecar: ' .. desc })
end

-- stylua: ignore start
map('n', 'run',    function(s) s.run() end,           'run the fence, cell or buffer under the cursor')
map('x', 'run',    function(s) s.run_selection() end, 'run the selection')
map('n', 'buffer', function(s) s.run_buffer() end,    'run the whole buffer')
map('n', 'cancel', function(s) s.cancel() end,        'cancel a run')
map('n', 'runs',   function(s) s.runs() end,          'list the runs')
map('n', 'output', function(s) s.output() end,        'show the output of the last run')
-- stylua: ignore end

if type(vim.g.sidecar) == 'table' and vim.g.sidecar.connect == 'startup' then
  if vim.v.vim_did_enter == 1 then
    require('sidecar').connect()
  else
    vim.api.nvim_create_autocmd('VimEnter', {
      once = true,
      callback = function()
        require('sidecar').connect()
      end,
    })
  end
end
