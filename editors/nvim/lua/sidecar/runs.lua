--- All runs of the sidecars that are connected, whoever asked for them, as they are told.
local methods = require('sidecar.protocol').methods

local M = {}

local limit = 500

--- By id: the run as the channel has it, with its workspace, `at` (seconds since 1970), `building`, `gone`.
M.all = {}
--- By workspace: whether its sidecar is connected.
M.connected = {}

local told = false

-- changed tells who shows runs, once for all that comes together.
local function changed()
  if told then
    return
  end
  told = true
  vim.defer_fn(function()
    told = false
    vim.api.nvim_exec_autocmds('User', { pattern = 'SidecarChanged', modeline = false })
    vim.cmd.redrawstatus({ bang = true })
  end, 20)
end
M.changed = changed

-- forget drops the oldest where there are too many.
local function forget()
  local list = M.list()
  for i = limit + 1, #list do
    M.all[list[i].id] = nil
  end
end

local function take(run, workspace)
  local known = M.all[run.id]
  run.workspace = workspace or (known and known.workspace)
  run.at = require('sidecar.say').seconds(run.started)
  run['end'] = run['end'] or (known and known['end'])
  run.findings, run.denied = known and known.findings or {}, known and known.denied or {}
  run.token = run.token or (known and known.token)
  M.all[run.id] = run
  if not known then
    forget()
  end
  return run
end

--- update takes a run as it is told.
function M.update(run, workspace)
  take(run, workspace)
  changed()
end

--- add notes a finding or a denial of a run ('findings', 'denied').
function M.add(id, what, value)
  local run = M.all[id or '']
  if run then
    table.insert(run[what], value)
    changed()
  end
end

--- building notes how far the environment of a run has come.
function M.building(id, text)
  local run = M.all[id or '']
  if run then
    run.building = text
    changed()
  end
end

--- findings and denied are what is known of a run: as it came, or at its end.
function M.findings(run)
  return run['end'] and run['end'].findings or run.findings
end

function M.denied(run)
  return run['end'] and run['end'].denied or run.denied
end

function M.live(run)
  return not run['end'] and not run.gone
end

--- list gives the runs, the newest first; with live those that go on.
function M.list(live)
  local list = vim.tbl_filter(function(run)
    return not live or M.live(run)
  end, vim.tbl_values(M.all))
  table.sort(list, function(a, b)
    if a.at ~= b.at then
      return a.at > b.at
    end
    return a.id > b.id
  end)
  return list
end

--- newest is the newest run, of this editor's own if there is one that passes.
function M.newest(live)
  local list = M.list(live)
  for _, run in ipairs(list) do
    if run.token then
      return run
    end
  end
  return list[1]
end

--- lost is told that a project's sidecar is no longer connected; nil is all of them. What went on there is gone.
function M.lost(workspace)
  for _, run in pairs(M.all) do
    if (not workspace or run.workspace == workspace) and M.live(run) then
      run.gone = true
    end
  end
  for known in pairs(M.connected) do
    if not workspace or known == workspace then
      M.connected[known] = false
    end
  end
  changed()
end

--- load asks for the runs of a project's sidecar.
function M.load(workspace)
  require('sidecar.client').request(workspace, methods.runs, { limit = 200 }, function(err, result)
    for _, run in ipairs(not err and result.runs or {}) do
      take(run, workspace)
    end
    changed()
  end)
end

return M
