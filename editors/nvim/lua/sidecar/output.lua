--- Buffers with the output of runs.
local client = require('sidecar.client')
local options = require('sidecar.options')
local methods = require('sidecar.protocol').methods
local runs = require('sidecar.runs')
local say = require('sidecar.say')
local screens = require('sidecar.screen')
local window = require('sidecar.window')

local M = {}

--- Views by buffer: { buf, screen, root, token or nil, id or nil, run }.
local views = {}

local fold = {
  foldmethod = 'expr',
  foldexpr = "v:lua.require'sidecar.screen'.fold(v:lnum)",
  foldtext = "v:lua.require'sidecar.screen'.foldtext()",
  foldlevel = 99,
  winbar = '%{get(b:,"sidecar_title","")}',
}

local function find(what, value)
  for _, view in pairs(views) do
    if value and value ~= '' and view[what] == value then
      return view
    end
  end
end

local function title(view, text)
  if vim.api.nvim_buf_is_valid(view.buf) then
    vim.b[view.buf].sidecar_title = (' %s · %s'):format(say.what(view.run), text)
    vim.cmd.redrawstatus({ bang = true })
  end
end

local function target(view)
  local run = view.id and runs.all[view.id] or view.run
  return vim.tbl_extend('keep', run, { workspace = view.root, token = view.token, id = view.id })
end

local function keys(view)
  window.keys(view.buf, {
    ['<C-c>'] = {
      function()
        require('sidecar.run').cancel(target(view))
      end,
      'cancel the run',
    },
    r = {
      function()
        require('sidecar.run').again(target(view))
      end,
      'run it again',
    },
  })
end

-- make makes the view of a run.
local function make(name, root, run)
  local buf = window.buffer(name, 'sidecar-output')
  local view = { buf = buf, root = root, run = run, screen = screens.on(buf) }
  views[buf] = view
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    once = true,
    callback = function()
      views[buf] = nil
    end,
  })
  keys(view)
  return view
end

--- own makes and shows the view of a run that is being asked for here.
function M.own(token, root, request)
  local view = make('sidecar://output/' .. token, root, request)
  view.token = token
  title(view, 'asked for')
  window.show(view.buf, options.get().focus, fold)
  return view
end

--- began is told that a run has begun, or that its environment is there: its id and token.
function M.began(run)
  local view = find('token', run.token)
  if view then
    view.id = run.id
    title(view, 'runs; q closes, <C-c> cancels')
  end
end

--- building is told how far the environment of a run is.
function M.building(id, token, text)
  local view = find('id', id) or find('token', token)
  if view then
    title(view, text)
  end
end

--- write takes output of this editor's own runs.
function M.write(p)
  local view = find('token', p.token)
  if not view then
    return
  end
  if p.dropped and p.dropped > 0 then
    view.screen:note(('… %s are left out here …'):format(say.size(p.dropped)))
  end
  view.screen:add(p.stream, p.text or '')
end

--- ended is told that a run has ended.
function M.ended(run)
  local view = find('id', run.id)
  if view then
    title(view, say.outcome(run['end'] or {}))
  end
end

-- notes adds what sidecar has to say of a run.
local function notes(view, ended)
  for _, f in ipairs(ended.findings or {}) do
    view.screen:note(say.finding(f, view.root))
  end
  for _, d in ipairs(ended.denied or {}) do
    view.screen:note(say.denial(d))
  end
  for _, text in ipairs(vim.list_extend(vim.list_slice(ended.notes or {}), ended.gaps or {})) do
    view.screen:note(text)
  end
  view.screen:note(say.outcome(ended))
end

--- answered is told the answer to a run, or why there is none.
function M.answered(view, err, result)
  view.done = true
  if not vim.api.nvim_buf_is_valid(view.buf) then
    if err then
      say.error(err)
    end
    return
  end
  if err then
    view.screen:note(err)
    title(view, 'not done')
  else
    view.id = view.id or result.id
    notes(view, result)
    title(view, say.outcome(result))
  end
end

--- lost is told that nothing more comes of the runs of this editor.
function M.lost()
  for _, view in pairs(views) do
    if view.token and not view.done then
      M.answered(view, 'the connection has ended, and the run with it')
    end
  end
end

local most = 1024 * 1024

-- read reads one stream of a run to its end, from an offset on.
local function read(view, stream, offset, go)
  if view.screen.closed then
    return
  end
  local params = { id = view.id, stream = stream, offset = offset }
  client.request(view.root, methods.runOutput, params, function(err, result)
    if err then
      view.screen:note(err)
      return go()
    end
    view.screen:add(stream, result.text or '')
    local next_offset = result.next
    if result.total - next_offset > 2 * most then -- more than a buffer keeps: go on near the end
      view.screen:note(('… %s are left out here …'):format(say.size(result.total - most - next_offset)))
      next_offset = result.total - most
    end
    if result.missing and result.missing > 0 then
      view.screen:note(('… %s can no longer be had …'):format(say.size(result.missing)))
      next_offset = result.total
    end
    local over = next_offset >= result.total
    if over and not result.live then
      return go()
    end
    vim.defer_fn(function()
      read(view, stream, next_offset, go)
    end, over and 100 or 0)
  end)
end

-- follow reads a run that somebody else asked for, or one whose buffer is gone: one stream after the other, or, while
-- it goes on, both at once.
local function follow(view)
  local function finish()
    local run = runs.all[view.id] or view.run
    if run['end'] then
      notes(view, run['end'])
      title(view, say.outcome(run['end']))
    end
  end
  if runs.live(view.run) then
    local left = 2
    for _, stream in ipairs({ 'stdout', 'stderr' }) do
      read(view, stream, 0, function()
        left = left - 1
        if left == 0 then
          vim.defer_fn(finish, 50) -- runEnded comes after the last of the output
        end
      end)
    end
    return
  end
  read(view, 'stdout', 0, function()
    read(view, 'stderr', 0, finish)
  end)
end

--- show shows the output of a run.
function M.show(run)
  local view = find('id', run.id)
  if not view then
    view = make('sidecar://output/' .. run.id, run.workspace, run)
    view.id = run.id
    title(view, runs.live(run) and 'runs; q closes, <C-c> cancels' or say.outcome(run['end'] or {}))
    follow(view)
  end
  window.show(view.buf, true, fold)
end

--- visible says whether the output of a run is in a window.
function M.visible(id)
  local view = find('id', id)
  return view ~= nil and #vim.fn.win_findbuf(view.buf) > 0
end

--- current is the run whose output the current buffer shows; nil is none.
function M.current()
  local view = views[vim.api.nvim_get_current_buf()]
  return view and target(view)
end

return M
