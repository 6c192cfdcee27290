--- A buffer that output streams into: one update in some 50 ms, a bounded number of lines, a fold for each stretch of
--- one stream.
local ansi = require('sidecar.ansi')
local options = require('sidecar.options')
local queues = require('sidecar.queue')

local M = {}

--- How long output is gathered, in ms, and how many bytes a line may have.
local pause, wide = 50, 4096

local ns = vim.api.nvim_create_namespace('sidecar')
local colors = { stderr = 'SidecarStderr', sidecar = 'SidecarNote' }
local screens = {}

local Screen = {}
Screen.__index = Screen

--- on makes a screen of a buffer.
function M.on(buf)
  local self = setmetatable({ buf = buf, gone = 0, lines = 0 }, Screen)
  self.stretches, self.partial, self.pen = {}, nil, {}
  self.keep, self.colored = options.get().lines, options.get().colors
  self.queue = queues.new(self.keep)
  screens[buf] = self
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buf,
    once = true,
    callback = function()
      self:close()
    end,
  })
  return self
end

function Screen:close()
  screens[self.buf], self.closed = nil, true
  self.queue:clear()
  if self.timer then
    self.timer:close()
    self.timer = nil
  end
end

--- add takes output. The first is shown at once, and what follows gathered.
function Screen:add(stream, text)
  if self.closed or text == '' then
    return
  end
  self.queue:add(stream, text)
  if not self.timer then
    self.timer = vim.uv.new_timer()
    self:flush()
    self:arm()
  end
end

-- arm has the next update come after a pause, counted from the end of this one.
function Screen:arm()
  if self.timer then
    self.timer:start(
      pause,
      0,
      vim.schedule_wrap(function()
        self:tick()
      end)
    )
  end
end

--- note adds a line of sidecar's own.
function Screen:note(text)
  self:add('sidecar', text .. '\n')
end

function Screen:tick()
  if self.closed then
    return
  elseif not self.queue:empty() then
    self:flush()
    self:arm()
  else
    self.timer:close()
    self.timer = nil
  end
end

function Screen:flush()
  if not vim.api.nvim_buf_is_valid(self.buf) then
    return self:close()
  end
  local following = self:followers()
  vim.bo[self.buf].modifiable = true
  for _, chunk in ipairs(self.queue:take()) do
    self:write(chunk[1], table.concat(chunk, '', 2))
  end
  self:trim()
  vim.bo[self.buf].modifiable = false
  for _, win in ipairs(following) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(self.buf), 0 })
  end
end

-- followers are the windows whose cursor is on the last line.
function Screen:followers()
  local last = vim.api.nvim_buf_line_count(self.buf)
  return vim.tbl_filter(function(win)
    return vim.api.nvim_win_get_cursor(win)[1] >= last
  end, vim.fn.win_findbuf(self.buf))
end

-- pieces are the lines of a text; those that are too long are broken, between characters.
local function pieces(text)
  local out = {}
  for _, line in ipairs(vim.split(text, '\n', { plain = true })) do
    if #line > wide then -- of what writes over itself, as a progress bar does, only the last counts
      line = line:match('[^\r]*\r*$')
    end
    while #line > wide do
      local to = wide
      while to > wide - 4 and line:byte(to + 1) >= 128 and line:byte(to + 1) < 192 do
        to = to - 1
      end
      out[#out + 1], line = line:sub(1, to), line:sub(to + 1)
    end
    out[#out + 1] = line
  end
  return out
end

-- write appends one stream's text. The last line stays open while no newline has come.
function Screen:write(stream, text)
  local first = self.lines
  if self.partial and self.stream == stream then
    text, first = self.partial .. text, self.lines - 1
  else
    self:begin(stream)
  end
  local raw = pieces(text)
  self.partial = raw[#raw] ~= '' and raw[#raw] or nil
  if not self.partial then
    raw[#raw] = nil
  end
  if #raw > 0 then
    self:render(raw, first)
  end
end

-- begin begins a stretch of another stream.
function Screen:begin(stream)
  self.partial = nil
  if self.stream ~= stream then
    self.stream, self.pen = stream, {}
    self.stretches[#self.stretches + 1] = { self.gone + self.lines + 1, stream }
  end
end

-- render puts lines at an index. The pen is kept as it is before the open line, which is rendered again.
function Screen:render(raw, first)
  local lines, marks, pen = {}, {}, self.pen
  for i, line in ipairs(raw) do
    if i == #raw and self.partial then
      self.pen = pen
    end
    local spans
    lines[i], spans, pen = ansi.plain(line, pen)
    marks[i] = spans
  end
  if not self.partial then
    self.pen = pen
  end
  vim.api.nvim_buf_clear_namespace(self.buf, ns, first, -1)
  vim.api.nvim_buf_set_lines(self.buf, first, -1, false, lines)
  self.lines = first + #lines
  self:color(first, lines, marks)
end

function Screen:color(first, lines, marks)
  local whole = colors[self.stream]
  for i, spans in ipairs(marks) do
    if whole and lines[i] ~= '' then
      self:mark(first + i - 1, 0, #lines[i], whole, 90)
    end
    for _, span in ipairs(self.colored and spans or {}) do
      self:mark(first + i - 1, span[1], span[2], ansi.group(span[3]), 100)
    end
  end
end

function Screen:mark(row, from, to, group, priority)
  if group then
    vim.api.nvim_buf_set_extmark(self.buf, ns, row, from, { end_col = to, hl_group = group, priority = priority })
  end
end

-- trim takes out the oldest lines, some at a time.
function Screen:trim()
  local over = self.lines - self.keep
  if over <= 0 or over <= self.keep / 10 and not self.queue:empty() then
    return
  end
  vim.api.nvim_buf_clear_namespace(self.buf, ns, 0, over)
  vim.api.nvim_buf_set_lines(self.buf, 0, over, false, {})
  self.lines, self.gone = self.lines - over, self.gone + over
  while self.stretches[2] and self.stretches[2][1] <= self.gone + 1 do
    table.remove(self.stretches, 1)
  end
end

-- stretch is the one that holds a line of the buffer.
function Screen:stretch(line)
  local low, high = 1, #self.stretches
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if self.stretches[middle][1] <= line + self.gone then
      low = middle
    else
      high = middle - 1
    end
  end
  return self.stretches[low]
end

--- fold is the foldexpr of the current buffer.
function M.fold(line)
  local self = screens[vim.api.nvim_get_current_buf()]
  local stretch = self and self:stretch(line)
  if not stretch then
    return '0'
  end
  return stretch[1] - self.gone == line and '>1' or '1'
end

--- foldtext says which stream is folded, and how much of it.
function M.foldtext()
  local from, to = vim.v.foldstart, vim.v.foldend
  local self = screens[vim.api.nvim_get_current_buf()]
  local stretch = self and self:stretch(from)
  return ('%s, %d lines: %s'):format(stretch and stretch[2] or 'output', to - from + 1, vim.fn.getline(from))
end

return M
