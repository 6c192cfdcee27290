-- Writes the section of options in doc/sidecar.txt anew:
--   nvim --headless -u NONE -l tests/help.lua
vim.opt.rtp:prepend('.')
local file = 'doc/sidecar.txt'
local text = table.concat(vim.fn.readfile(file), '\n')
local from = select(2, text:find('\n8%. Options  .-\n<\n'))
local to = text:find('\n=+\n9%. ', from)
local options = table.concat(require('sidecar.options').help(), '\n')
vim.fn.writefile(vim.split(text:sub(1, from) .. options .. text:sub(to), '\n'), file)
