(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '((markdown-mode sh-mode) . ("sidecar" "lsp"))))
