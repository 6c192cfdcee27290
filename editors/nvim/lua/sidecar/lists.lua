--- Environments and the state of sidecars, as text in a buffer.
local client = require('sidecar.client')
local methods = require('sidecar.protocol').methods
local say = require('sidecar.say')
local window = require('sidecar.window')

local M = {}

--- Names and aliases of languages, for completion.
M.languages = {}

local function show(name, lines)
  local buf = window.buffer('sidecar://' .. name, 'sidecar-list')
  window.write(buf, lines)
  window.show(buf, true, { wrap = false })
end

local function environment(e, lines)
  local about = e.summary and e.summary ~= '' and ': ' .. say.line(e.summary) or ''
  lines[#lines + 1] = e.id .. about .. (e.notBuilt and ' (not built yet)' or '')
  for _, l in ipairs(e.languages or {}) do
    lines[#lines + 1] = ('  %-12s %-10s %s'):format(l.name, l.version or '', l.program or '')
    M.languages[l.name] = true
  end
  for _, m in ipairs(e.missing or {}) do
    lines[#lines + 1] = ('  %-12s missing    %s'):format(m.name, say.line(m.hint or ''))
  end
  lines[#lines + 1] = ''
end

--- envs shows what code can run with.
function M.envs(root)
  client.ask(root, methods.envs, {}, function(result)
    local lines = {}
    for _, e in ipairs(result.environments or {}) do
      environment(e, lines)
    end
    show('envs', lines)
  end)
end

local function clients(s, lines)
  for _, c in ipairs(s.clients or {}) do
    lines[#lines + 1] = ('  client       %s %s (process %d)'):format(say.line(c.name), c.version or '', c.pid or 0)
  end
end

--- status shows how the project's sidecar is.
function M.status(root)
  client.ask(root, methods.status, {}, function(s)
    local lines = { say.line(s.workspace) }
    local function add(label, value)
      lines[#lines + 1] = ('  %-12s %s'):format(label, value)
    end
    if s.branch and s.branch ~= '' then
      add('branch', say.line(s.branch))
    end
    add('version', s.build and s.build.version or '')
    add('process', ('%d, since %s, %s'):format(s.pid, s.started, say.size(s.memory or 0)))
    add('socket', s.socket)
    add('runs', ('%d now, %d before'):format(#(s.runs or {}), s.runsBefore or 0))
    clients(s, lines)
    show('status', lines)
  end)
end

return M
