vim.api.nvim_create_autocmd("FileType", { pattern = { "markdown", "python", "sh" }, callback = function(a)
  vim.lsp.start({ name = "sidecar", cmd = { "sidecar", "lsp" }, root_dir = vim.fs.root(a.buf, ".git") or vim.fn.getcwd() })
end })
