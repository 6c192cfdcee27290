--- The options, declared once: their defaults, what is checked, and the text of the help.
local M = {}

local function words(v)
  local ok = type(v) == 'string' and v ~= ''
  if type(v) == 'table' then
    ok = #v > 0 and vim.iter(v):all(function(w)
      return type(w) == 'string'
    end)
  end
  return ok, 'a program, or a list of a program and its arguments'
end

local function text(v)
  return type(v) == 'string' and v ~= '', 'a text'
end

local function truth(v)
  return type(v) == 'boolean', 'true or false'
end

local function number(from, to)
  return function(v)
    local ok = type(v) == 'number' and v >= from and v <= to
    return ok, ('a number from %d to %d'):format(from, to)
  end
end

local function one_of(...)
  local all = { ... }
  return function(v)
    return vim.tbl_contains(all, v), '"' .. table.concat(all, '" or "') .. '"'
  end
end

--- name, default, check, what it is for.
M.schema = {
  { 'command', 'sidecar', words, 'The program, or a list of the program and arguments that go before `lsp`.' },
  {
    'connect',
    'command',
    one_of('command', 'startup'),
    'When to connect: with the first command, or as Neovim starts, so that runs of agents are seen from then on.',
  },
  { 'window', 'botright 12split', text, 'The command that opens the window for output, runs and lists.' },
  { 'focus', false, truth, 'Whether the cursor goes to the window with the output of a run that begins.' },
  { 'lines', 10000, number(100, 1000000), 'How many lines of output a buffer keeps; the oldest go first.' },
  { 'colors', true, truth, 'Whether colours that programs print are shown.' },
  { 'approvals', true, truth, 'Whether you are asked here what a run may do beyond the settings.' },
  { 'notify', true, truth, 'Whether findings and denials of runs whose output is not shown are notifications.' },
  { 'timeout', 0, number(0, 604800), 'How long a run may last, in seconds; 0 is what the settings of sidecar say.' },
}

--- read checks a table of options; it gives all options, and what is wrong with the given ones.
function M.read(given)
  local all, wrong, known = {}, {}, {}
  if type(given) ~= 'table' then
    given, wrong = {}, { ('vim.g.sidecar is a %s; it must be a table'):format(type(given)) }
  end
  for _, row in ipairs(M.schema) do
    local name, default, check = unpack(row)
    local value = given[name]
    local ok, wanted = check(value)
    if value ~= nil and not ok then
      wrong[#wrong + 1] = ('option %s is %s; it must be %s'):format(name, vim.inspect(value), wanted)
    end
    all[name], known[#known + 1] = ok and value or default, name
    if ok and value == false then
      all[name] = false
    end
  end
  for name in pairs(given) do
    if not vim.tbl_contains(known, name) then
      wrong[#wrong + 1] = ('option %s is unknown; known are %s'):format(name, table.concat(known, ', '))
    end
  end
  return all, wrong
end

local said = {}

--- get gives all options as they are now. What is wrong is said once, and the default taken.
function M.get()
  local all, wrong = M.read(vim.g.sidecar or {})
  for _, problem in ipairs(wrong) do
    if not said[problem] then
      said[problem] = true
      require('sidecar.say').warn(problem)
    end
  end
  return all
end

--- command is the program with its arguments, as a list.
function M.command()
  local command = M.get().command
  return type(command) == 'table' and vim.deepcopy(command) or { command }
end

--- help gives the lines of the help's section.
function M.help()
  local lines = {}
  for _, row in ipairs(M.schema) do
    local name, default, check, about = unpack(row)
    local _, wanted = check(nil)
    local tag = ('*sidecar-option-%s*'):format(name)
    lines[#lines + 1] = ('%s%s'):format(name, (' '):rep(math.max(1, 78 - #name - #tag)) .. tag)
    for _, line in ipairs(M.wrapped(about .. ' It is ' .. wanted .. '.', 70)) do
      lines[#lines + 1] = '        ' .. line
    end
    vim.list_extend(lines, { '        Default: `' .. vim.inspect(default) .. '`', '' })
  end
  return lines
end

--- wrapped breaks a text into lines of at most width characters.
function M.wrapped(about, width)
  local lines = { '' }
  for word in about:gmatch('%S+') do
    local line = lines[#lines]
    if line == '' then
      lines[#lines] = word
    elseif #line + #word < width then
      lines[#lines] = line .. ' ' .. word
    else
      lines[#lines + 1] = word
    end
  end
  return lines
end

return M
