--- The connection: one `sidecar lsp`, behind which are the sidecars of all projects that are open here.
local options = require('sidecar.options')
local say = require('sidecar.say')

local M = {}

local name = 'sidecar'
local newer = vim.fn.has('nvim-0.11') == 1

--- What waits for the answer to initialize, the client that is waited for, and when it was started (vim.uv.now).
local waiting, starting, started = {}, nil, 0

-- method calls a method of a client, whose form changed with 0.11.
local function method(client, what, ...)
  if newer then
    return client[what](client, ...)
  end
  return client[what](...)
end

--- get is the client; nil while there is none.
function M.get()
  return starting
    or vim.iter(vim.lsp.get_clients({ name = name })):find(function(client)
      return client.handlers['sidecar/output'] ~= nil -- else it was started without this plugin
    end)
end

-- release tells who waits that the connection is there, or why not.
local function release(err)
  local all = waiting
  waiting, starting = {}, nil
  for _, go in ipairs(all) do
    go(err)
  end
end

-- ended is told that the program has ended. One that worked for a while is started again; the sidecars live on.
local function ended(code, signal)
  require('sidecar.runs').lost(nil)
  require('sidecar.output').lost()
  if vim.v.exiting ~= vim.NIL then
    return
  end
  local how = signal ~= 0 and 'signal ' .. signal or 'status ' .. code
  if starting then
    return release(
      ('`%s lsp` ended with %s before it answered: is it older than this plugin? :checkhealth sidecar says more'):format(
        table.concat(options.command(), ' '),
        how
      )
    )
  elseif code == 0 and signal == 0 then
    return
  elseif vim.uv.now() - started < 2000 then
    return say.error(('`sidecar lsp` ended with %s; the next command starts it again'):format(how))
  end
  say.warn(('`sidecar lsp` ended with %s; starting it again'):format(how))
  M.start()
end

--- root is the folder of a buffer's project, by the signs of version control; else its folder, or the working folder.
function M.root(buf)
  local path = vim.api.nvim_buf_get_name(buf or 0)
  local here = vim.uv.cwd()
  if vim.bo[buf or 0].buftype ~= '' or path == '' or path:match('^%a[%w+.-]+://') then
    path = here
  end
  local root = vim.fs.root(path, { '.git', '.jj', '.hg', '.sidecar.yaml' })
  if root then
    return root
  end
  local folder = path == here and here or vim.fs.dirname(path)
  return vim.startswith(folder .. '/', here .. '/') and here or folder
end

--- config is what vim.lsp starts.
function M.config()
  local command = options.command()
  command[#command + 1] = 'lsp'
  return {
    name = name,
    cmd = command,
    root_markers = { '.git', '.jj', '.hg', '.sidecar.yaml' },
    filetypes = {
      'markdown',
      'python',
      'sh',
      'bash',
      'javascript',
      'typescript',
      'ruby',
      'perl',
      'lua',
      'haskell',
      'octave',
      'go',
      'php',
      'r',
      'julia',
    },
    init_options = {
      protocol = require('sidecar.protocol').version,
      output = 'own',
      approvals = options.get().approvals,
    },
    handlers = require('sidecar.events').handlers,
    on_init = function()
      release()
    end,
    on_error = function(_, err)
      if starting then
        release('`sidecar lsp` refused: ' .. tostring(type(err) == 'table' and err.message or err))
      end
    end,
    on_exit = vim.schedule_wrap(ended),
  }
end

local function folder(path)
  return { uri = vim.uri_from_fname(path), name = path }
end

-- missing says that the program is not there, and how to get it.
local function missing(command)
  return ('%s is not to be found: install sidecar, or name the program with vim.g.sidecar = { command = "/path/to/sidecar" }'):format(
    command
  )
end

--- start starts the program for a project, and gives the client, or nil and the reason.
function M.start(root)
  local config = M.config()
  if vim.fn.executable(config.cmd[1]) == 0 then
    return nil, missing(config.cmd[1])
  end
  root = root or M.root()
  config.root_dir, config.workspace_folders, config.cmd_cwd = root, { folder(root) }, root
  started = vim.uv.now()
  local id
  if newer then
    id = vim.lsp.start(config, {
      attach = false,
      reuse_client = function()
        return false
      end,
    })
  else
    id = vim.lsp.start_client(config)
  end
  local client = id and vim.lsp.get_client_by_id(id)
  starting = client
  return client, not client and ('`%s` could not be started'):format(table.concat(config.cmd, ' ')) or nil
end

-- open tells the server of a project's folder that it does not know.
local function open(client, root)
  for _, known in ipairs(client.workspace_folders or {}) do
    if known.uri == vim.uri_from_fname(root) then
      return
    end
  end
  client.workspace_folders = vim.list_extend(client.workspace_folders or {}, { folder(root) })
  method(
    client,
    'notify',
    'workspace/didChangeWorkspaceFolders',
    { event = { added = { folder(root) }, removed = {} } }
  )
end

--- connect makes the connection, with the folder of a project, and goes on with the client, or nil and the reason.
function M.connect(root, go)
  local client, err = M.get(), nil
  if not client then
    client, err = M.start(root)
  end
  if not client then
    return go(nil, err)
  elseif client.initialized then
    open(client, root)
    return go(client)
  end
  waiting[#waiting + 1] = function(problem)
    if not problem then
      open(client, root)
    end
    go(not problem and client or nil, problem)
  end
end

--- request asks something about a project, and connects before if need be; go gets the error in words, and the result.
function M.request(root, what, params, go)
  M.connect(root, function(client, problem)
    if not client then
      return go(problem)
    end
    params = vim.tbl_extend('keep', params or {}, { workspace = root })
    if next(params) == nil then
      params = vim.empty_dict()
    end
    local sent = method(client, 'request', what, params, function(err, result)
      go(err and say.fault(err) or nil, result, err)
    end, 0)
    if not sent then
      go('the connection is closed')
    end
  end)
end

--- ask is request, where an error is shown and nothing else done.
function M.ask(root, what, params, go)
  M.request(root, what, params, function(err, result)
    if err then
      return say.error(err)
    end
    go(result)
  end)
end

return M
