local T = ...
local ansi, screens = require('sidecar.ansi'), require('sidecar.screen')

local function plain(text)
  local out, spans = ansi.plain(text, {})
  return { out, spans }
end

T.test('lines are made plain', function()
  local red = { fg = 1 }
  for text, want in pairs({
    ['plain'] = { 'plain', {} },
    ['a\tb'] = { 'a\tb', {} },
    ['\27[31mred\27[0m x'] = { 'red x', { { 0, 3, red } } },
    ['\27[1;38;5;208mo\27[22;39mp'] = { 'op', { { 0, 1, { bold = true, fg = 208 } } } },
    ['\27[38;2;1;2;300mo'] = { 'o', { { 0, 1, { fg = '#0102ff' } } } },
    ['10%\r\27[31m20%'] = { '20%', { { 0, 3, red } } },
    ['a\r'] = { 'a', {} },
    ['\27]0;title\7t'] = { 't', {} },
    ['\27]52;c;cm0gLXJm\27\\t'] = { 't', {} },
    ['\27Pq#0\27\\t\27_G\27\\u\27^x\27\\v\27Xx\27\\w'] = { 'tuvw', {} },
    ['\27[2J\27[H\27[?1049h\27[999;1Hx\27[6n'] = { 'x', {} },
    ['\27(Bx\27cy\27>z'] = { 'xyz', {} },
    ['\194\155' .. '31mx'] = { '31mx', {} },
    ['a\8b\0c\127d'] = { 'abcd', {} },
    ['cut \27[3'] = { 'cut ', {} },
    ['cut \27]0;never closed'] = { 'cut ', {} },
    ['\27[>4;2mx'] = { 'x', {} },
    ['\27[\1mx'] = { 'mx', {} },
    ['ä\239\191\189☃'] = { 'ä\239\191\189☃', {} },
  }) do
    T.eq({ text, plain(text) }, { text, want })
  end
end)

-- shown gives the lines of a screen that took these chunks, all of one update or each of its own.
local function shown(chunks, apart)
  local buf = vim.api.nvim_create_buf(false, true)
  local screen = screens.on(buf)
  for _, chunk in ipairs(chunks) do
    screen:add(chunk[1], chunk[2])
    if apart then
      screen:flush()
    end
  end
  screen:flush()
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  return lines, screen, buf
end

T.test('chunks make the same lines, however they are cut', function()
  local text = 'one\n\27[31mtwo\nthree\27[0m\nfo☃ur\r5 5\n\n' .. ('x'):rep(9000) .. '\nend'
  local want = { 'one', 'two', 'three', '5 5', '', ('x'):rep(4096), ('x'):rep(4096), ('x'):rep(808), 'end' }
  T.eq((shown({ { 'stdout', text } })), want)
  local cut = {}
  for i = 1, #text do
    cut[i] = { 'stdout', text:sub(i, i) }
  end
  T.eq((shown(cut, true)), want)
end)

T.test('a progress bar stays one line', function()
  local all = {}
  for i = 1, 1900 do
    all[i] = { 'stdout', ('\r%d of 1900'):format(i) }
  end
  T.eq((shown(all)), { '1900 of 1900' })
  T.eq((shown(vim.list_slice(all, 1, 900), true)), { '900 of 1900' })
end)

-- sizes gives what an update takes, as streams and sizes; what sidecar says itself as it is.
local function sizes(queue)
  return vim.tbl_map(function(part)
    local text = table.concat(part, '', 2)
    return part[1] .. ': ' .. (part[1] == 'sidecar' and text or #text)
  end, queue:take())
end

T.test('what waits is bounded, and what is left out is said', function()
  local queues = require('sidecar.queue')
  local q = queues.new(100)
  for _ = 1, 10 do
    q:add('stdout', ('x'):rep(1024 * 1024))
  end
  T.eq({ q.waiting, sizes(q) }, { 2097152, { 'sidecar: … 8.4 MB are left out here …\n', 'stdout: 131072' } })
  T.eq({ sizes(q), q.waiting }, { { 'stdout: 131072' }, 2097152 - 2 * 131072 })
  q = queues.new(100)
  q:add('stderr', 'head\n')
  q:add('stdout', ('line\n'):rep(150))
  q:add('stderr', 'tail')
  T.eq(sizes(q), { 'sidecar: … 5 B are left out here …\n', 'stdout: 750', 'stderr: 4' })
  q = queues.new(10000)
  q:add('stdout', ('line\n'):rep(3000))
  T.eq({ sizes(q), sizes(q), q:empty() }, { { 'stdout: 10000' }, { 'stdout: 5000' }, true })
end)

T.test('each stretch of a stream is a fold', function()
  local lines, _, buf =
    shown({ { 'stdout', 'a\nb\nc' }, { 'stderr', 'd\n' }, { 'stderr', 'e\n' }, { 'stdout', 'f\n' } }, true)
  T.eq(lines, { 'a', 'b', 'c', 'd', 'e', 'f' })
  vim.api.nvim_set_current_buf(buf)
  T.eq(vim.iter({ 1, 2, 3, 4, 5, 6 }):map(screens.fold):totable(), { '>1', '1', '1', '>1', '1', '>1' })
end)

T.test('the number of lines is bounded', function()
  vim.g.sidecar = { lines = 100 }
  local lines, screen, buf = shown({ { 'stdout', ('line\n'):rep(500) .. 'last\n' }, { 'stderr', 'x\n' } })
  T.eq({ #lines, lines[99], lines[100] }, { 100, 'last', 'x' })
  vim.api.nvim_set_current_buf(buf)
  T.eq({ screens.fold(1), screens.fold(99), screens.fold(100) }, { '1', '1', '>1' })
  T.eq(screen.gone, 402)
end)

T.test('terminal escapes and broken UTF-8 of a real run are harmless', function()
  T.project('escapes', 'a.sh', [[printf '\033]52;c;cm0=\007\033[2J\033[31mred\033[0m \377\376 end\n\033]0;title\n']])
  vim.cmd('Sidecar run')
  local text = T.finished()
  T.has(text, 'red \239\191\189')
  T.has(text, ' end\n')
  local marks = vim.api.nvim_buf_get_extmarks(T.outputs()[1], -1, 0, -1, { details = true })
  T.eq({ marks[1][4].hl_group, marks[1][3], marks[1][4].end_col }, { 'SidecarAnsi_fg1', 0, 3 })
end)

-- busy is the time that this process has computed, in ms.
local function busy()
  local used = vim.uv.getrusage()
  return (used.utime.sec + used.stime.sec) * 1e3 + (used.utime.usec + used.stime.usec) / 1e3
end

-- watch measures, until it is stopped, how long the editor did not come to answer: by the clock, and by the time that it
-- computed meanwhile, which other processes of the machine do not lengthen; and how far its memory rose.
local function watch()
  collectgarbage()
  local seen = { clock = 0, busy = 0, memory = 0 }
  local last, used, before, timer = vim.uv.hrtime(), busy(), vim.uv.resident_set_memory(), vim.uv.new_timer()
  local function look()
    local now, cpu = vim.uv.hrtime(), busy()
    seen.clock, seen.busy = math.max(seen.clock, (now - last) / 1e6), math.max(seen.busy, cpu - used)
    seen.memory = math.max(seen.memory, (vim.uv.resident_set_memory() - before) / 1e6)
    last, used = now, cpu
  end
  timer:start(5, 5, vim.schedule_wrap(look))
  return function()
    timer:close()
    return seen
  end
end

T.test('20 MB of output: the editor answers and its memory stays', function()
  T.project('loud', 'a.sh', 'yes "$(printf "%099d" 7)" | head -c 20000000; echo the end')
  local stop = watch()
  vim.cmd('Sidecar run')
  local text = T.finished(60000)
  local seen = stop()
  T.has(text:sub(-200), '\nthe end\nexit 0')
  T.eq(vim.api.nvim_buf_line_count(T.outputs()[1]), 10000)
  local line = '# not answering for %d ms (%d ms computing), memory up by %.1f MB'
  io.stdout:write(line:format(seen.clock, seen.busy, seen.memory) .. '\n')
  assert(seen.busy < 100, ('it computed for %d ms'):format(seen.busy))
  assert(seen.memory < 60, ('its memory rose by %d MB'):format(seen.memory))
end)
