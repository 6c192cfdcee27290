--- Scratch buffers, and the one window of a tab page that shows them.
local options = require('sidecar.options')

local M = {}

--- buffer makes a scratch buffer, or gives the one of that name. q closes its window; with it the buffer is gone.
function M.buffer(name, filetype)
  local buf = M.find(name)
  if buf then
    return buf, false
  end
  buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].bufhidden, vim.bo[buf].undolevels, vim.bo[buf].modifiable = 'wipe', -1, false
  vim.bo[buf].filetype = filetype
  M.keys(buf, { q = { M.close, 'close' } })
  return buf, true
end

--- find gives the buffer of exactly this name; nil is none.
function M.find(name)
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(buf) == name then
      return buf
    end
  end
end

--- keys maps keys of a buffer: to a function and what it does.
function M.keys(buf, all)
  for key, map in pairs(all) do
    vim.keymap.set('n', key, map[1], { buffer = buf, nowait = true, desc = 'sidecar: ' .. map[2] })
  end
end

--- close closes the current window, or leaves its buffer where it is the last one.
function M.close()
  if not pcall(vim.api.nvim_win_close, 0, true) then
    vim.cmd.enew()
  end
end

-- reusable is a window of this tab page that shows something of sidecar's, of the same kind if there is one.
local function reusable(filetype)
  local other
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local ft = vim.bo[vim.api.nvim_win_get_buf(win)].filetype
    if ft == filetype then
      return win
    elseif vim.startswith(ft, 'sidecar') then
      other = win
    end
  end
  return other
end

--- show shows a buffer in sidecar's window, with these options of the window, and goes there if it should.
function M.show(buf, enter, wanted)
  local before = vim.api.nvim_get_current_win()
  local win = vim.fn.win_findbuf(buf)[1] or reusable(vim.bo[buf].filetype)
  if not win then
    vim.cmd(options.get().window)
    win = vim.api.nvim_get_current_win()
  end
  if vim.api.nvim_win_get_buf(win) ~= buf then
    vim.api.nvim_win_set_buf(win, buf)
  end
  local all = { number = false, relativenumber = false, signcolumn = 'no', list = false, spell = false }
  for name, value in pairs(vim.tbl_extend('force', all, wanted or {})) do
    vim.api.nvim_set_option_value(name, value, { scope = 'local', win = win })
  end
  vim.api.nvim_set_current_win(enter and win or before)
  return win
end

--- write puts lines in the place of a buffer's.
function M.write(buf, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
end

return M
