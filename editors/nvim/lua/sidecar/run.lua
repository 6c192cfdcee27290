--- Asking for runs.
local client = require('sidecar.client')
local options = require('sidecar.options')
local output = require('sidecar.output')
local methods = require('sidecar.protocol').methods
local runs = require('sidecar.runs')
local say = require('sidecar.say')

local M = {}

local count, remembered = 0, 50

--- What was asked for, by token, so that it can be asked for again; the newest are remembered.
local requests, order = {}, {}

local function remember(token, request)
  requests[token] = request
  order[#order + 1] = token
  if #order > remembered then
    requests[table.remove(order, 1)] = nil
  end
end

--- start asks for a run: of what is to be run (language and code, or command), in the project of root.
function M.start(root, request)
  count = count + 1
  local token = ('nvim-%d-%d'):format(vim.fn.getpid(), count)
  remember(token, { root = root, request = request })
  local view = output.own(token, root, request)
  local params = vim.tbl_extend('force', request, { token = token })
  local timeout = options.get().timeout
  if timeout > 0 then
    params.timeoutMs = math.floor(timeout * 1000)
  end
  client.request(root, methods.run, params, function(err, result)
    output.answered(view, err, result)
  end)
  return token
end

--- again asks for the same once more.
function M.again(run)
  local known = requests[run.token or '']
  if known then
    return M.start(known.root, known.request)
  elseif run.session then
    return say.warn('a session has a terminal of its own, and is begun again there')
  elseif run.code and run.code ~= '' and #run.code < (run.codeBytes or 0) then
    return say.warn('only the head of its code is known here, so it cannot be run again')
  end
  local request = { language = run.language, code = run.code, command = run.command, cwd = run.cwd }
  return M.start(run.workspace or client.root(), request)
end

--- code is the code of a run, or as much as is known of it, as lines.
function M.code(run)
  local known = requests[run.token or '']
  local text = known and known.request.code or run.code or table.concat(run.command or {}, ' ')
  local lines = vim.split(text, '\n', { plain = true })
  if not known and #text < (run.codeBytes or 0) then
    lines[#lines + 1] = ('… %d bytes more …'):format(run.codeBytes - #text)
  end
  return lines
end

--- cancel ends a run, whoever asked for it.
function M.cancel(run)
  local params = run.id and { id = run.id } or { token = run.token }
  client.ask(run.workspace or client.root(), methods.cancel, params, function(result)
    if not result.cancelled then
      say.info('the run has ended already')
    end
    runs.changed()
  end)
end

return M
