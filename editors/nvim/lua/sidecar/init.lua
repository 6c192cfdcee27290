--- sidecar in Neovim: runs code in the sandbox of the project, and shows all runs, whoever asked for them.
---
---     require('sidecar').run()          -- what is under the cursor
---     require('sidecar').statusline()   -- for a statusline
---
--- No call of setup is needed; options are in vim.g.sidecar (:help sidecar-options).
local M = {}

-- start runs a block of the current buffer, or says why there is none.
local function start(block, problem)
  if not block then
    return require('sidecar.say').warn(problem)
  end
  local root = require('sidecar.client').root()
  return require('sidecar.run').start(root, { language = block.language, code = block.code })
end

--- run runs the fence, the cell or the buffer under the cursor.
function M.run()
  return start(require('sidecar.block').at(0, vim.api.nvim_win_get_cursor(0)[1]))
end

--- run_lines runs lines of the current buffer.
function M.run_lines(from, to)
  return start(require('sidecar.block').range(0, from, to))
end

--- run_selection runs what is selected; it is for mappings of visual mode.
function M.run_selection()
  local block, problem = require('sidecar.block').selection(0)
  vim.cmd.normal({ '\27', bang = true })
  return start(block, problem)
end

--- run_buffer runs the whole buffer.
function M.run_buffer()
  return start(require('sidecar.block').buffer(0))
end

--- run_as runs lines as code of a language.
function M.run_as(language, from, to)
  local lines = vim.api.nvim_buf_get_lines(0, from - 1, to, false)
  return start({ language = language, code = table.concat(lines, '\n') .. '\n' })
end

-- pick is the run that is meant: by its id, else of the current buffer, else the newest.
local function pick(id, live)
  local runs = require('sidecar.runs')
  if id then
    return runs.all[id] or { id = id }
  end
  return require('sidecar.output').current() or require('sidecar.board').current() or runs.newest(live)
end

--- cancel ends a run: by its id, else the one of the current buffer, else the newest, your own first.
function M.cancel(id)
  local run = pick(id, true)
  if not run then
    return require('sidecar.say').info('no run goes on')
  end
  require('sidecar.run').cancel(run)
end

--- output shows the output of a run, by its id, or of the newest.
function M.output(id)
  M.connect(function()
    local run = pick(id, false)
    if not run then
      return require('sidecar.say').info('there is no run yet')
    end
    run.workspace = run.workspace or require('sidecar.client').root()
    require('sidecar.output').show(run)
  end)
end

--- runs lists the runs, and follows them.
function M.runs()
  M.connect()
  require('sidecar.board').open()
end

--- envs shows what code can run with.
function M.envs()
  require('sidecar.lists').envs(require('sidecar.client').root())
end

--- status shows how the project's sidecar is.
function M.status()
  require('sidecar.lists').status(require('sidecar.client').root())
end

--- connect connects with the sidecar of the current buffer's project, and calls go then.
function M.connect(go)
  local client = require('sidecar.client')
  client.connect(client.root(), function(_, problem)
    if problem then
      require('sidecar.say').error(problem)
    elseif go then
      go()
    end
  end)
end

--- statusline is a short text: '' before the first connection, else what goes on.
function M.statusline()
  local runs, waiting = package.loaded['sidecar.runs'], package.loaded['sidecar.approve']
  if not runs or next(runs.connected) == nil then
    return ''
  elseif waiting and waiting.waiting() > 0 then
    return 'sidecar: asks'
  end
  local live = #runs.list(true)
  if live > 0 then
    return ('sidecar: %d running'):format(live)
  end
  for _, connected in pairs(runs.connected) do
    if connected then
      return 'sidecar'
    end
  end
  return 'sidecar: off'
end

local links = {
  SidecarStderr = 'DiagnosticError',
  SidecarNote = 'Comment',
  SidecarOk = 'DiagnosticOk',
  SidecarFailed = 'DiagnosticError',
  SidecarRunning = 'DiagnosticInfo',
}

local function highlight()
  for group, link in pairs(links) do
    vim.api.nvim_set_hl(0, group, { link = link, default = true })
  end
  require('sidecar.ansi').restore()
end

highlight()
vim.api.nvim_create_autocmd('ColorScheme', { group = vim.api.nvim_create_augroup('sidecar', {}), callback = highlight })

return M
