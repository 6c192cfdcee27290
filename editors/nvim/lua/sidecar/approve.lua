--- Questions of runs, put to the person one after the other with vim.ui.select.
local say = require('sidecar.say')

local M = {}

--- The questions that wait; the first is shown when `asking` is set.
local queue, asking = {}, false

local answers = {
  { 'no', 'No' },
  { 'once', 'Yes, for this run' },
  { 'always', 'Yes, always' },
}

-- offers are the answers to a question: "always" is one only where it writes something.
local function offers(question)
  return (question.writes or '') ~= '' and answers or vim.list_slice(answers, 1, 2)
end

local function shown(question)
  return function(answer)
    if answer[1] == 'always' then
      local to = question.file and ' to ' .. say.line(question.file) or ''
      return answer[2]
        .. ': writes '
        .. say.line(question.writes)
        .. to
        .. ', every name below it, too, in every project'
    end
    return answer[2]
  end
end

local next_one

-- settle answers a question.
local function settle(waits, answer)
  if waits.settled then
    return
  end
  waits.settled = true
  queue = vim.tbl_filter(function(other)
    return other ~= waits
  end, queue)
  -- not before the question has yielded: vim.ui.select may answer at once
  vim.schedule(function()
    coroutine.resume(waits.co, { answer = answer })
    require('sidecar.runs').changed()
  end)
end

local function show(waits)
  local q = waits.question
  local prompt = ('sidecar: %s asks: %s'):format(say.line(q.client or 'a run'), say.line(q.text or q.subject or ''))
  vim.ui.select(offers(q), { prompt = prompt, kind = 'sidecar', format_item = shown(q) }, function(answer)
    asking = false
    settle(waits, answer and answer[1] or 'no')
    vim.schedule(next_one)
  end)
end

-- next_one shows the next question, but not to somebody who types just now.
next_one = function()
  local waits = queue[1]
  if asking or not waits then
    return
  end
  asking = true
  local mode = vim.api.nvim_get_mode().mode
  if mode == 'n' or mode == 'nt' then
    return show(waits)
  elseif not waits.told then
    waits.told = true
    say.warn('a run waits for an answer, which is asked in normal mode')
  end
  vim.api.nvim_create_autocmd('ModeChanged', {
    pattern = '*:n*',
    once = true,
    callback = vim.schedule_wrap(function()
      asking = false
      next_one()
    end),
  })
end

--- ask puts a question of the channel (sidecar/approve), and gives the answer. It runs in a coroutine, which waits.
function M.ask(question)
  local waits = { question = question, co = coroutine.running() }
  queue[#queue + 1] = waits
  require('sidecar.runs').changed()
  vim.schedule(next_one)
  return coroutine.yield()
end

--- ended is told that a run has ended: what it asked needs no answer any more.
function M.ended(run)
  for _, waits in ipairs(vim.list_slice(queue)) do
    if waits.question.run == run then
      settle(waits, 'no')
    end
  end
end

--- waiting is how many questions wait.
function M.waiting()
  return #queue
end

return M
