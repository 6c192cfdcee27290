--- :checkhealth sidecar
local options = require('sidecar.options')
local methods = require('sidecar.protocol').methods

local M = {}

local health = vim.health

local function read(command)
  local ok, process = pcall(vim.system, command, { text = true })
  if not ok then
    return nil, tostring(process)
  end
  local done = process:wait(20000)
  if done.code ~= 0 and done.stdout == '' then
    return nil, vim.trim(done.stderr or '')
  end
  return done.stdout
end

local function editor()
  health.start('sidecar: Neovim')
  if vim.fn.has('nvim-0.10') == 1 then
    health.ok('Neovim ' .. tostring(vim.version()))
  else
    health.error('Neovim is older than 0.10')
  end
  local _, wrong = options.read(vim.g.sidecar or {})
  for _, problem in ipairs(wrong) do
    health.error(problem, 'see :help sidecar-options')
  end
  if #wrong == 0 then
    health.ok('the options are right')
  end
end

-- program says whether it is there and new enough.
local function program()
  health.start('sidecar: the program')
  local command = options.command()
  local path = vim.fn.exepath(command[1])
  if path == '' then
    health.error(command[1] .. ' is not to be found', {
      'install sidecar, or',
      'vim.g.sidecar = { command = "/path/to/sidecar" }',
    })
    return false
  end
  local version, problem = read(vim.list_extend(options.command(), { '--version' }))
  if not version then
    health.error(path .. ' does not say its version: ' .. problem)
    return false
  end
  health.ok(('%s: %s'):format(path, vim.trim(version)))
  if not read(vim.list_extend(options.command(), { 'lsp', '--help' })) then
    health.error('it has no `lsp`: it is older than this plugin', 'install the sidecar of the same release')
    return false
  end
  return true
end

-- doctor shows what the program says of this machine.
local function doctor()
  health.start('sidecar: this machine (sidecar doctor)')
  local text, problem = read(vim.list_extend(options.command(), { 'doctor', '--json' }))
  local ok, result = pcall(vim.json.decode, text or '', { luanil = { object = true } })
  if not ok then
    return health.error('sidecar doctor says nothing that can be read: ' .. (problem or text or ''))
  end
  local levels = { ok = health.ok, warn = health.warn }
  for _, check in ipairs(result.checks or {}) do
    local level = levels[check.status] or health.error
    level(('%s: %s'):format(check.name, check.detail or ''), check.fix and { check.fix } or nil)
  end
end

-- await asks a request of the channel, and waits for the answer.
local function await(method)
  local client = require('sidecar.client')
  local done, err, result = false, nil, nil
  client.request(client.root(), method, {}, function(e, r)
    done, err, result = true, e, r
  end)
  vim.wait(10000, function()
    return done
  end, 10)
  return result, err or not done and 'no answer within 10 seconds' or nil
end

-- connection says which sidecars are connected; the first request starts this project's.
local function connection()
  health.start('sidecar: the connection')
  local _, err = await(methods.status)
  local result, none = await(methods.workspaces)
  if err or none then
    return health.error('there is none: ' .. (err or none))
  end
  for _, w in ipairs(result.workspaces or {}) do
    if w.about then
      health.ok(('%s: process %d, %s'):format(w.root, w.about.pid, w.about.build.version))
    else
      health.warn(('%s: %s'):format(w.root or w.folder or '', w.error and w.error.message or 'not connected'))
    end
  end
end

--- check is called by :checkhealth.
function M.check()
  editor()
  if program() then
    doctor()
    connection()
  end
end

return M
