--- One line of terminal output made plain: its text, and what parts of it have colours (ECMA-48: control sequences,
--- control strings, SGR). Nothing but SGR is obeyed, so no sequence can write elsewhere.
local M = {}

local groups, count, limit = {}, 0, 500

local basic = {
  [0] = '#3b3b3b',
  '#d14d41',
  '#879a39',
  '#d0a215',
  '#4385be',
  '#ce5d97',
  '#3aa99f',
  '#bfbdb6',
  '#6f6e69',
  '#e8705f',
  '#a0af54',
  '#dfb431',
  '#66a0c8',
  '#e47da8',
  '#5abdac',
  '#e6e4d9',
} -- stylua: ignore

local function hex(n)
  if n < 16 then
    return vim.g['terminal_color_' .. n] or basic[n]
  elseif n < 232 then
    local function level(v)
      return v == 0 and 0 or 55 + v * 40
    end
    n = n - 16
    return ('#%02x%02x%02x'):format(level(math.floor(n / 36)), level(math.floor(n / 6) % 6), level(n % 6))
  end
  local grey = math.min(n - 232, 23) * 10 + 8
  return ('#%02x%02x%02x'):format(grey, grey, grey)
end

local function define(name, pen)
  local function color(v)
    return type(v) == 'number' and hex(v) or v
  end
  vim.api.nvim_set_hl(0, name, {
    fg = color(pen.fg),
    bg = color(pen.bg),
    ctermfg = type(pen.fg) == 'number' and pen.fg or nil,
    ctermbg = type(pen.bg) == 'number' and pen.bg or nil,
    bold = pen.bold,
    italic = pen.italic,
    underline = pen.underline,
    reverse = pen.reverse,
  })
end

--- group is the highlight group of a pen; nil is none. Their number is bounded.
function M.group(pen)
  local key = {}
  for _, part in ipairs({ 'fg', 'bg', 'bold', 'italic', 'underline', 'reverse' }) do
    key[#key + 1] = pen[part] and part .. tostring(pen[part]):gsub('#', 'x'):gsub('true', '') or nil
  end
  if #key == 0 then
    return nil
  end
  local name = 'SidecarAnsi_' .. table.concat(key, '_')
  if not groups[name] then
    if count >= limit then
      return nil
    end
    groups[name], count = vim.deepcopy(pen), count + 1
    define(name, pen)
  end
  return name
end

--- restore defines the groups again, after a colour scheme has cleared them.
function M.restore()
  for name, pen in pairs(groups) do
    define(name, pen)
  end
end

local set = { [1] = 'bold', [3] = 'italic', [4] = 'underline', [7] = 'reverse' }
local unset = { [22] = 'bold', [23] = 'italic', [24] = 'underline', [27] = 'reverse', [39] = 'fg', [49] = 'bg' }

-- extended reads 38;5;N and 38;2;R;G;B from codes[i] on, and gives the colour and the last index.
local function extended(codes, i)
  if codes[i + 1] == 5 then
    return math.min(codes[i + 2] or 0, 255), i + 2
  elseif codes[i + 1] == 2 then
    local function byte(n)
      return math.min(codes[i + n] or 0, 255)
    end
    return ('#%02x%02x%02x'):format(byte(2), byte(3), byte(4)), i + 4
  end
  return nil, i + 1
end

--- sgr is the pen after a sequence with these parameters.
function M.sgr(pen, params)
  pen = vim.deepcopy(pen)
  local codes = {}
  for code in (params:gsub(':', ';') .. ';'):gmatch('(%d*);') do
    codes[#codes + 1] = tonumber(code) or 0
  end
  local i = 1
  while i <= #codes do
    local c = codes[i]
    if c == 0 then
      pen = {}
    elseif set[c] then
      pen[set[c]] = true
    elseif unset[c] then
      pen[unset[c]] = nil
    elseif c == 38 or c == 48 then
      local color
      color, i = extended(codes, i)
      pen[c == 38 and 'fg' or 'bg'] = color
    elseif c >= 30 and c <= 37 or c >= 90 and c <= 97 then
      pen.fg = c < 90 and c - 30 or c - 82
    elseif c >= 40 and c <= 47 or c >= 100 and c <= 107 then
      pen.bg = c < 100 and c - 40 or c - 92
    end
    i = i + 1
  end
  return pen
end

-- skip gives the index after the control at i, and the parameters if it is SGR.
local function skip(text, i)
  if text:byte(i) ~= 27 then
    return i + (text:byte(i) == 194 and 2 or 1)
  end
  local params, final, after = text:match('^%[([0-?]*)[ -/]*([@-~])()', i + 1)
  if after then
    return after, final == 'm' and not params:find('[<-?]') and params or nil
  end
  if text:find('^[%]PX^_]', i + 1) then
    local _, st = text:find('\27\\', i + 2, true)
    local bell = text:byte(i + 1) == 93 and text:find('\7', i + 2, true)
    return math.min(st or #text, bell or #text) + 1
  end
  return text:match('^%[[0-?]*[ -/]*()', i + 1) or text:match('^[ -/]*[0-~]?()', i + 1)
end

-- control is the index of the next control character but tab: of C0, DEL, or C1 as UTF-8 has them.
local function control(text, from)
  local c0 = text:find('[%z\1-\8\10-\31\127]', from)
  local c1 = text:find('\194[\128-\159]', from)
  return (c0 and c1) and math.min(c0, c1) or c0 or c1
end

--- plain gives a line's text without controls, its coloured parts as { from, to, pen } (bytes, from 0), and the pen at
--- its end. A carriage return goes back to the line's start.
function M.plain(text, pen)
  local out, spans, width, at = {}, {}, 0, 1
  local function write(to)
    if to >= at then
      out[#out + 1] = text:sub(at, to)
      if next(pen) then
        spans[#spans + 1] = { width, width + to - at + 1, pen }
      end
      width = width + to - at + 1
    end
  end
  if not text:find('%c') and not text:find('\194', 1, true) then -- as most lines are
    write(#text)
    return text, spans, pen
  end
  text = text:gsub('\r+$', '')
  while true do
    local i = control(text, at)
    if not i then
      write(#text)
      return table.concat(out), spans, pen
    end
    write(i - 1)
    if text:byte(i) == 13 then
      out, spans, width = {}, {}, 0
    end
    local params
    at, params = skip(text, i)
    pen = params and M.sgr(pen, params) or pen
  end
end

return M
