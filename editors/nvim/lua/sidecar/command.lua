--- The command :Sidecar.
local M = {}

local function api()
  return require('sidecar')
end

local function ids(live)
  return function()
    return vim.tbl_map(function(run)
      return run.id
    end, require('sidecar.runs').list(live))
  end
end

local function languages()
  local known = vim.tbl_keys(require('sidecar.lists').languages)
  table.sort(known)
  return #known > 0 and known or { 'bash', 'lua', 'node', 'perl', 'python', 'ruby' }
end

--- By name: what it does with the call, and what completes its argument.
M.verbs = {
  run = {
    function(call)
      local language = call.fargs[2]
      if language then
        local whole = call.range == 0
        return api().run_as(language, whole and 1 or call.line1, whole and -1 or call.line2)
      elseif call.range > 0 then
        return api().run_lines(call.line1, call.line2)
      end
      return api().run()
    end,
    languages,
  },
  cancel = {
    function(call)
      api().cancel(call.fargs[2])
    end,
    ids(true),
  },
  output = {
    function(call)
      api().output(call.fargs[2])
    end,
    ids(false),
  },
  runs = {
    function()
      api().runs()
    end,
  },
  envs = {
    function()
      api().envs()
    end,
  },
  status = {
    function()
      api().status()
    end,
  },
}

local function names()
  local all = vim.tbl_keys(M.verbs)
  table.sort(all)
  return all
end

--- call does what was typed; without a word it is run.
function M.call(call)
  local verb = M.verbs[call.fargs[1] or 'run']
  if not verb then
    return require('sidecar.say').error(
      ('%s is unknown; known are %s'):format(call.fargs[1], table.concat(names(), ', '))
    )
  end
  verb[1](call)
end

--- complete gives what can be typed next.
function M.complete(lead, line)
  local before = line:sub(1, #line - #lead)
  local words = vim.split(vim.trim(before:match('Sidecar(.*)$') or ''), '%s+', { trimempty = true })
  local all = {}
  if #words == 0 then
    all = names()
  elseif #words == 1 and M.verbs[words[1]] and M.verbs[words[1]][2] then
    all = M.verbs[words[1]][2]()
  end
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, all)
end

return M
