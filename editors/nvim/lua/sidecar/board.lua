--- The buffer that lists the runs and follows them.
local output = require('sidecar.output')
local run = require('sidecar.run')
local runs = require('sidecar.runs')
local say = require('sidecar.say')
local window = require('sidecar.window')

local M = {}

local name = 'sidecar://runs'
local ns = vim.api.nvim_create_namespace('sidecar-runs')
local head = 'Runs: <CR> output  x cancel  r run again  o code  q close'

--- By line: the run that it is about.
local shown = {}
local timer

local function state(r)
  if r.gone then
    return 'gone', 'SidecarFailed'
  elseif not r['end'] then
    return r.building and 'builds' or 'runs', 'SidecarRunning'
  end
  local e = r['end']
  local bad = e.error or e.cancelled or (e.limit or '') ~= '' or (e.exitCode or 0) ~= 0
  return bad and 'failed' or 'ok', bad and 'SidecarFailed' or 'SidecarOk'
end

local function took(r)
  if r['end'] then
    return say.outcome(r['end'])
  elseif r.gone then
    return 'its sidecar is gone'
  end
  return say.elapsed(math.max(0, os.time() - math.floor(r.at)) * 1000)
end

-- cut makes a text so wide, in cells.
local function cut(text, width)
  if vim.fn.strdisplaywidth(text) > width then
    text = vim.fn.strcharpart(text, 0, width - 1) .. '…'
  end
  return text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
end

-- entry gives the lines about a run: one, and one for each finding and denial.
local function entry(r)
  local word = state(r)
  local at = os.date('%H:%M:%S', math.floor(r.at))
  local who = say.line(r.client or '')
  local lines = { ('%-7s %s  %s  %s  %s'):format(word, at, cut(who, 18), cut(took(r), 20), say.what(r)) }
  if runs.live(r) and r.building then
    lines[#lines + 1] = '        ' .. r.building
  end
  for _, f in ipairs(runs.findings(r) or {}) do
    lines[#lines + 1] = '        ' .. say.finding(f, r.workspace)
  end
  for _, d in ipairs(runs.denied(r) or {}) do
    lines[#lines + 1] = '        ' .. say.denial(d)
  end
  return lines
end

local function render(buf)
  local lines, of, groups = { head }, {}, { 'SidecarNote' }
  for _, r in ipairs(runs.list()) do
    local _, group = state(r)
    for i, line in ipairs(entry(r)) do
      lines[#lines + 1] = line
      of[#lines], groups[#lines] = r, i == 1 and group or 'SidecarNote'
    end
  end
  if #lines == 1 then
    lines[2] = 'none yet'
  end
  shown = of
  window.write(buf, lines)
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  for i, group in pairs(groups) do
    local to = of[i] and group ~= 'SidecarNote' and 7 or #lines[i]
    vim.api.nvim_buf_set_extmark(buf, ns, i - 1, 0, { end_col = to, hl_group = group })
  end
end

-- keep calls something that changes the lines, and puts cursors back on the runs that they were on.
local function keep(buf, change)
  local on = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    local at = shown[vim.api.nvim_win_get_cursor(win)[1]]
    on[win] = at and at.id
  end
  change(buf)
  for win, id in pairs(on) do
    for i = 2, vim.api.nvim_buf_line_count(buf) do
      if shown[i] and shown[i].id == id then
        vim.api.nvim_win_set_cursor(win, { i, 0 })
        break
      end
    end
  end
end

local function refresh()
  local buf = window.find(name)
  if buf then
    keep(buf, render)
  end
end

--- current is the run under the cursor of the list; nil is none.
function M.current()
  if vim.api.nvim_buf_get_name(0) == name then
    return shown[vim.api.nvim_win_get_cursor(0)[1]]
  end
end

-- code shows the code of a run.
local function code(r)
  local buf, new = window.buffer('sidecar://code/' .. r.id, 'sidecar-code')
  if new then
    window.write(buf, run.code(r))
    vim.bo[buf].syntax = vim.filetype.match({ filename = 'x.' .. (r.language or '') }) or r.language or ''
  end
  window.show(buf, true)
end

local function with_run(act)
  return function()
    local r = M.current()
    if r then
      act(r)
    end
  end
end

-- follow keeps the list current: on what is told, and once a second for the durations.
local function follow(buf)
  local group = vim.api.nvim_create_augroup('sidecar-runs', {})
  vim.api.nvim_create_autocmd('User', { group = group, pattern = 'SidecarChanged', callback = refresh })
  timer = vim.uv.new_timer()
  timer:start(
    1000,
    1000,
    vim.schedule_wrap(function()
      if #runs.list(true) > 0 then
        refresh()
      end
    end)
  )
  vim.api.nvim_create_autocmd('BufWipeout', {
    group = group,
    buffer = buf,
    once = true,
    callback = function()
      timer:close()
      vim.api.nvim_del_augroup_by_id(group)
    end,
  })
end

--- open shows the list.
function M.open()
  local buf, new = window.buffer(name, 'sidecar-runs')
  if new then
    window.keys(buf, {
      ['<CR>'] = { with_run(output.show), 'show the output' },
      x = { with_run(run.cancel), 'cancel the run' },
      r = { with_run(run.again), 'run it again' },
      o = { with_run(code), 'show the code' },
    })
    follow(buf)
    render(buf)
  end
  window.show(buf, true, { wrap = false, cursorline = true })
end

return M
