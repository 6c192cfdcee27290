std = 'luajit'
globals = { 'vim.g', 'vim.b', 'vim.bo', 'vim.o', 'vim.opt', 'vim.notify', 'vim.ui.select' }
read_globals = { 'vim' }
max_line_length = false -- stylua breaks lines
