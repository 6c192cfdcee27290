-- Runs the cases in tests/cases in this Neovim. It is started by tests/run.
local T = { dir = vim.env.TEST_DIR, notices = {}, said = {} }
local words = vim.split(vim.env.TEST_WORDS or '', ' ', { trimempty = true })
local passed, failed, count = 0, 0, 0

vim.notify = function(text)
  T.notices[#T.notices + 1] = text
end

local function say(text)
  io.stdout:write(text .. '\n')
end

--- wait awaits a condition, and gives what it gave.
function T.wait(what, condition, ms)
  local value
  local ok = vim.wait(ms or 15000, function()
    value = condition()
    return value
  end, 5)
  if not ok then
    error(('waited in vain for %s; notices: %s'):format(what, vim.inspect(T.notices)), 2)
  end
  return value
end

function T.eq(got, want)
  if not vim.deep_equal(got, want) then
    error(('got %s\nwant %s'):format(vim.inspect(got), vim.inspect(want)), 2)
  end
end

function T.has(text, part)
  if not text:find(part, 1, true) then
    error(('%q is not in:\n%s'):format(part, text), 2)
  end
end

--- noticed awaits a notification that holds a text.
function T.noticed(part)
  return T.wait('a notice with ' .. part, function()
    for _, text in ipairs(T.notices) do
      if text:find(part, 1, true) then
        return text
      end
    end
  end)
end

--- project makes a project with files, and edits the first one in it.
function T.project(name, file, text)
  local dir = T.dir .. '/projects/' .. name
  vim.fn.mkdir(dir .. '/.git', 'p')
  vim.fn.system({ 'git', 'init', '-q', dir })
  vim.api.nvim_set_current_dir(dir)
  if file then
    vim.fn.writefile(vim.split(text, '\n'), dir .. '/' .. file)
    vim.cmd('edit ' .. vim.fn.fnameescape(dir .. '/' .. file))
  end
  return dir
end

--- outputs are the buffers that show output.
function T.outputs()
  return vim.tbl_filter(function(buf)
    return vim.bo[buf].filetype == 'sidecar-output'
  end, vim.api.nvim_list_bufs())
end

function T.text(buf)
  return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), '\n')
end

--- finished awaits the end of the run in the newest output buffer, and gives its text.
function T.finished(ms)
  return T.wait('the end of the run', function()
    local all = T.outputs()
    local buf = all[#all]
    local last = buf and vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1] or ''
    return (last:find('^exit %d') or last:find('^cancelled')) and T.text(buf)
  end, ms)
end

--- output awaits a text in the newest output buffer, and gives all of it.
function T.output(part)
  return T.wait('output with ' .. part, function()
    local all = T.outputs()
    local text = all[1] and T.text(all[#all]) or ''
    return text:find(part, 1, true) and text
  end)
end

--- terminal runs code in a terminal, as another client.
function T.terminal(code, cwd)
  return vim.system({ 'sidecar', 'run', '--language', 'bash', '-' }, { cwd = cwd, text = true, stdin = code })
end

--- The client of sidecar.
function T.client()
  return vim.lsp.get_clients({ name = 'sidecar' })[1]
end

function T.test(name, case)
  local wanted = #words == 0 or vim.iter(words):any(function(w)
    return name:find(w, 1, true) ~= nil
  end)
  if not wanted then
    return
  end
  vim.cmd('silent! %bwipeout!')
  vim.g.sidecar, T.notices, count = nil, {}, count + 1
  local began = vim.uv.hrtime()
  local ok, err = xpcall(case, debug.traceback)
  local ms = (vim.uv.hrtime() - began) / 1e6
  say(('%s %d - %s (%d ms)%s'):format(ok and 'ok' or 'not ok', count, name, ms, ok and '' or '\n' .. tostring(err)))
  passed, failed = passed + (ok and 1 or 0), failed + (ok and 0 or 1)
end

vim.cmd.filetype('on')
T.plugin = vim.uv.cwd()
local files = vim.fn.sort(vim.fn.glob(T.plugin .. '/tests/cases/*.lua', true, true))
for _, file in ipairs(files) do
  local ok, err = pcall(function()
    assert(loadfile(file))(T)
  end)
  if not ok then
    failed = failed + 1
    say('not ok - ' .. file .. ': ' .. tostring(err))
  end
end
say(('%d passed, %d failed'):format(passed, failed))
io.stdout:flush()
vim.cmd(failed == 0 and passed > 0 and 'qall!' or 'cquit!')
