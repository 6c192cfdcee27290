-- For Neovim 0.11 and newer: vim.lsp.enable('sidecar') connects with every file of a known language. The plugin works
-- without it, too.
return require('sidecar.client').config()
