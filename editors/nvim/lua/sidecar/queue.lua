--- Output that waits to be shown, bounded: what a buffer would not keep, and what comes too fast, is left out, the oldest
--- first, and how much that was is said.
local say = require('sidecar.say')

local M = {}

--- How many bytes and lines one update takes, and how many bytes wait.
local portion, some, backlog = 128 * 1024, 2000, 2 * 1024 * 1024

local Queue = {}
Queue.__index = Queue

--- new makes one for a buffer that keeps so many lines.
function M.new(keep)
  return setmetatable({ all = {}, waiting = 0, missed = 0, keep = keep }, Queue)
end

function Queue:empty()
  return #self.all == 0
end

function Queue:clear()
  self.all, self.waiting = {}, 0
end

--- add takes a text of a stream.
function Queue:add(stream, text)
  self.all[#self.all + 1], self.waiting = { stream, text }, self.waiting + #text
  while self.waiting > backlog and #self.all > 1 do
    self:drop()
  end
end

-- cut gives where an update that takes this text ends, and how many lines it has until there.
local function cut(text, bytes, lines)
  local at, count = 0, 0
  while count < lines do
    local next_at = text:find('\n', at + 1, true)
    if not next_at or next_at > bytes then
      return at > 0 and next_at and at or math.min(bytes, #text), count
    end
    at, count = next_at, count + 1
  end
  return at, count
end

-- skip leaves out what the buffer would not keep, when all that waits is shown.
function Queue:skip()
  local lines = 0
  for i = #self.all, 1, -1 do
    local chunk = self.all[i]
    chunk.lines = chunk.lines or select(2, cut(chunk[2], #chunk[2], math.huge))
    lines = lines + chunk.lines
    if lines > self.keep then
      for _ = 1, i - 1 do
        self:drop()
      end
      return
    end
  end
end

-- drop leaves out the oldest of what waits.
function Queue:drop()
  local oldest = table.remove(self.all, 1)
  self.waiting, self.missed = self.waiting - #oldest[2], self.missed + #oldest[2]
end

--- take gives what the next update shows: lists of a stream and its texts.
function Queue:take()
  self:skip()
  local taken, bytes, lines = {}, 0, 0
  if self.missed > 0 then
    taken[1], self.missed = { 'sidecar', ('… %s are left out here …\n'):format(say.size(self.missed)) }, 0
  end
  while #self.all > 0 and bytes < portion and lines < some do
    local chunk = table.remove(self.all, 1)
    local stream, text = chunk[1], chunk[2]
    local to, count = cut(text, portion - bytes, some - lines)
    if to < #text then
      table.insert(self.all, 1, { stream, text:sub(to + 1) })
      text = text:sub(1, to)
    end
    bytes, lines, self.waiting = bytes + #text, lines + math.max(count, 1), self.waiting - #text
    local last = taken[#taken]
    if last and last[1] == stream then
      last[#last + 1] = text
    else
      taken[#taken + 1] = { stream, text }
    end
  end
  return taken
end

return M
