--- What the sidecars say by themselves.
local options = require('sidecar.options')
local methods = require('sidecar.protocol').methods
local runs = require('sidecar.runs')
local say = require('sidecar.say')

local M = { handlers = {} }

local function on(method, take)
  M.handlers[method] = function(_, params)
    take(params or {})
  end
end

on(methods.runStarted, function(p)
  runs.update(p.run, p.workspace)
  require('sidecar.output').began(p.run)
end)

on(methods.runEnded, function(p)
  runs.update(p.run, p.workspace)
  require('sidecar.approve').ended(p.run.id)
  require('sidecar.output').ended(p.run)
end)

on(methods.output, function(p)
  require('sidecar.output').write(p)
end)

on(methods.building, function(p)
  local text = p.stage .. (p.name and ' ' .. p.name or '')
  if p.total and p.total > 0 then
    text = ('%s (%d of %d)'):format(text, p.done or 0, p.total)
  end
  runs.building(p.id, say.line(text))
  require('sidecar.output').building(p.id, p.token, say.line(text))
end)

on(methods.begun, function(p)
  runs.building(p.id, nil)
  require('sidecar.output').began(p)
end)

-- notify is whether something about a run is a notification: its output, which ends with it, may be before the person.
local function notify(id)
  return options.get().notify and not require('sidecar.output').visible(id)
end

on(methods.finding, function(p)
  runs.add(p.id, 'findings', p.finding)
  if notify(p.id) then
    say.warn(say.finding(p.finding, p.workspace))
  end
end)

on(methods.denied, function(p)
  runs.add(p.id, 'denied', p.denial)
  if notify(p.id) then
    say.warn(say.denial(p.denial))
  end
end)

on(methods.connection, function(p)
  local before = runs.connected[p.workspace]
  if not p.connected then
    runs.lost(p.workspace)
    runs.connected[p.workspace] = false
    return
  end
  runs.connected[p.workspace] = true
  if before == false then
    say.info(('connected again with the sidecar of %s (process %d)'):format(p.workspace, p.pid or 0))
  end
  runs.load(p.workspace)
end)

on('window/showMessage', function(p)
  say.message(p.type, p.message)
end)

M.handlers[methods.approve] = function(_, params)
  return require('sidecar.approve').ask(params)
end

return M
