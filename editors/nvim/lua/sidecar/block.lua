--- What of a buffer is run: a range, the Markdown fence or the `# %%` cell under the cursor, or all of it.
local M = {}

local marked = { markdown = true, quarto = true, rmd = true, pandoc = true, vimwiki = true, mdx = true }

local function lines_of(buf, from, to)
  return vim.api.nvim_buf_get_lines(buf, from - 1, to, false)
end

--- language is the one of a buffer: its file type, or what Neovim makes of its name and text; nil is none.
function M.language(buf)
  local language = vim.bo[buf].filetype
  if language == '' then
    language = vim.filetype.match({ buf = buf }) or ''
  end
  return language ~= '' and language or nil
end

-- info is the language that a fence's info string names: python, {python}, {.python #id}, python title="x".
local function info(text)
  return text:match('^%s*{?%s*%.?([%w_+#.-]+)')
end

-- strip takes a fence's indentation from a line, as far as the line has it (CommonMark, 4.5).
local function strip(line, indent)
  local own = line:match('^ *')
  return line:sub(math.min(#own, indent) + 1)
end

-- closes says whether a line closes a fence.
local function closes(line, mark)
  local close = line:match('^%s*([`~]+)%s*$')
  return close and #close >= #mark and close == close:sub(1, 1):rep(#close) and close:sub(1, 1) == mark:sub(1, 1)
end

-- opens gives the indentation, the mark and the info string of a line that opens a fence.
local function opens(line)
  local indent, mark, rest = line:match('^([%s>]*)(```+)([^`]*)$')
  if not mark then
    indent, mark, rest = line:match('^([%s>]*)(~~~+)(.*)$')
  end
  return indent, mark, rest
end

--- fences are all fences of these lines: first and last line of the code, its language, its indentation.
function M.fences(lines)
  local all, open = {}, nil
  for i, line in ipairs(lines) do
    if open and closes(line, open.mark) then
      open.last, open.close = i - 1, i
      all[#all + 1], open = open, nil
    elseif not open then
      local indent, mark, rest = opens(line)
      if mark and not indent:find('>') then
        open = { first = i + 1, mark = mark, language = info(rest), indent = #indent }
      end
    end
  end
  if open then -- one that is not closed goes to the end
    open.last, open.close = #lines, #lines
    all[#all + 1] = open
  end
  return all
end

-- fence is the one that holds a line, its marks included.
local function fence(lines, row)
  for _, f in ipairs(M.fences(lines)) do
    if row >= f.first - 1 and row <= f.close then
      return f
    end
  end
end

-- cell gives the lines of the `# %%` cell that holds a row; nil where there are no cells.
local function cell(lines, row)
  local function is_mark(line)
    return line:find('^%s*#%s*%%%%') or line:find('^%s*//%s*%%%%') or line:find('^%s*%-%-%s*%%%%')
  end
  local from, to, any = 1, #lines, false
  for i, line in ipairs(lines) do
    if is_mark(line) then
      any = true
      if i <= row then
        from = i + 1
      else
        to = i - 1
        break
      end
    end
  end
  if any then
    return from, to
  end
end

local function code(lines)
  return table.concat(lines, '\n') .. '\n'
end

local function of_fence(f, lines, from, to)
  if not f.language then
    return nil, ('the fence at line %d names no language'):format(f.first - 1)
  end
  local out = {}
  for i = from or f.first, to or f.last do
    out[#out + 1] = strip(lines[i], f.indent)
  end
  return { language = f.language, code = code(out), kind = 'fence' }
end

local function of_lines(buf, lines, kind)
  local language = M.language(buf)
  if not language then
    return nil, 'this buffer has no file type: name the language with :Sidecar run LANGUAGE'
  elseif marked[language] then
    return nil, 'there is no code fence under the cursor'
  end
  return { language = language, code = code(lines), kind = kind }
end

--- range is what lines of a buffer are: in Markdown, of the fence around them.
function M.range(buf, from, to)
  if marked[M.language(buf) or ''] then
    local lines = lines_of(buf, 1, -1)
    local f = fence(lines, from)
    if f and to <= f.close then
      return of_fence(f, lines, math.max(from, f.first), math.min(to, f.last))
    end
  end
  return of_lines(buf, lines_of(buf, from, to), 'range')
end

--- at is what is under the cursor.
function M.at(buf, row)
  local lines = lines_of(buf, 1, -1)
  if marked[M.language(buf) or ''] then
    local f = fence(lines, row)
    if f then
      return of_fence(f, lines)
    end
    return of_lines(buf, lines, 'buffer')
  end
  local from, to = cell(lines, row)
  if from then
    return of_lines(buf, vim.list_slice(lines, from, to), 'cell')
  end
  return of_lines(buf, lines, 'buffer')
end

--- buffer is all of it.
function M.buffer(buf)
  return of_lines(buf, lines_of(buf, 1, -1), 'buffer')
end

--- selection is what is selected in visual mode, characters and blocks as they are.
function M.selection(buf)
  local mode = vim.fn.mode()
  if mode == 'V' then
    local from, to = vim.fn.line('v'), vim.fn.line('.')
    return M.range(buf, math.min(from, to), math.max(from, to))
  end
  local lines = vim.fn.getregion(vim.fn.getpos('v'), vim.fn.getpos('.'), { type = mode })
  local around = M.range(buf, vim.fn.line('v'), vim.fn.line('v'))
  if around and around.kind == 'fence' then
    return { language = around.language, code = code(lines), kind = 'selection' }
  end
  return of_lines(buf, lines, 'selection')
end

return M
