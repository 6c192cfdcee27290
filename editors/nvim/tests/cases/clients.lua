local T = ...
local runs = require('sidecar.runs')

local function board()
  return T.text(vim.fn.bufnr('sidecar://runs'))
end

T.test("a terminal's run appears in the list by itself, is read and cancelled there", function()
  local dir = T.project('other')
  vim.cmd('Sidecar runs')
  T.wait('the connection', function()
    return runs.connected[dir]
  end)
  local process = T.terminal('echo from the terminal; sleep 60', dir)
  T.wait('the run in the list', function()
    return board():find('runs%s+%d+:%d+:%d+%s+terminal.*echo from the terminal')
  end)
  T.eq(require('sidecar').statusline(), 'sidecar: 1 running')
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.api.nvim_feedkeys(vim.keycode('<CR>'), 'x', false)
  T.output('from the terminal')
  vim.cmd('Sidecar runs')
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.api.nvim_feedkeys('o', 'x', false)
  T.eq(vim.api.nvim_buf_get_lines(0, 0, -1, false), { 'echo from the terminal; sleep 60' })
  vim.cmd('Sidecar runs')
  vim.api.nvim_win_set_cursor(0, { 2, 0 })
  vim.api.nvim_feedkeys('x', 'x', false)
  T.eq(process:wait(10000).code, 130)
  T.wait('its end in the list', function()
    return board():find('failed.*cancelled after')
  end)
end)

T.test('output of a run that has ended is read, also a long one', function()
  local dir = T.project('ended')
  vim.cmd('Sidecar runs')
  T.eq(T.terminal('seq 1 900000; echo x >&2', dir):wait(30000).code, 0)
  T.wait('the run in the list', function()
    return board():find('ok .*seq 1 900000')
  end)
  vim.cmd('Sidecar output')
  local text = T.finished()
  T.has(text, '\n900000\nx\nexit 0')
  T.eq(select(2, text:gsub('\n', '')), 9999)
end)

T.test('runs of a sidecar that is gone are in the list, and their output is read', function()
  local dir = T.project('before')
  T.eq(T.terminal('echo of the past', dir):wait(30000).code, 0)
  T.eq(vim.system({ 'sidecar', '--workspace', dir, 'stop' }):wait(30000).code, 0)
  vim.cmd('Sidecar runs')
  T.wait('the run in the list', function()
    return board():find('ok .*echo of the past')
  end)
  vim.cmd('Sidecar output')
  T.has(T.finished(), 'of the past\nexit 0')
end)

T.test('findings are shown: where the output is, in the list, else as notifications', function()
  local dir = T.project('finding', 'a.sh', 'mkdir -p sub; echo x > sub/.envrc')
  vim.cmd('Sidecar run')
  T.has(T.finished(), 'disarmed sub/.envrc: ')
  T.eq(T.notices, {})
  vim.cmd('Sidecar runs')
  T.has(board(), 'disarmed sub/.envrc: ')
  T.terminal('echo x > .envrc', dir):wait(10000)
  T.noticed('sidecar: disarmed .envrc: ')
end)

T.test('a question is answered, and a denial shown', function()
  T.project(
    'asks',
    'a.py',
    table.concat({
      'import urllib.request, urllib.error',
      'for name in ["yes.invalid", "no.invalid"]:',
      '    try: urllib.request.urlopen("http://" + name)',
      '    except urllib.error.HTTPError as e: print(name, e.code, flush=True)',
      '    except Exception as e: print(name, e, flush=True)',
    }, '\n')
  )
  local asked, select = {}, vim.ui.select
  vim.ui.select = function(items, o, choose)
    asked[#asked + 1] = o.prompt
    choose(o.prompt:find('yes.invalid', 1, true) and items[2] or nil)
  end
  vim.cmd('Sidecar run')
  local text = T.finished()
  vim.ui.select = select
  T.eq(#asked, 2)
  T.has(asked[1], 'yes.invalid')
  T.has(text, 'denied GET no.invalid:80')
  assert(not text:find('no rule allows yes.invalid', 1, true), text)
end)

T.test('who is typing is asked afterwards', function()
  local approve, select, asked = require('sidecar.approve'), vim.ui.select, 0
  vim.ui.select = function(items, _, choose)
    asked = asked + 1
    choose(items[asked == 1 and 2 or 3])
  end
  local answers = {}
  for i = 1, 2 do
    coroutine.wrap(function()
      answers[i] = approve.ask({ run = 'r', text = 'may it?', writes = 'network.approved: [x.example]' })
    end)()
  end
  local while_typing
  vim.keymap.set('i', '<F5>', function()
    T.noticed('a run waits for an answer')
    while_typing = { asked, approve.waiting() }
  end)
  vim.api.nvim_feedkeys(vim.keycode('i<F5><Esc>'), 'x', false)
  T.wait('the answers', function()
    return answers[2]
  end)
  vim.ui.select = select
  T.eq({ while_typing, answers, approve.waiting() }, { { 0, 2 }, { { answer = 'once' }, { answer = 'always' } }, 0 })
end)

T.test('always is offered only where it writes something, and says how much', function()
  local approve, select, shown = require('sidecar.approve'), vim.ui.select, {}
  vim.ui.select = function(items, options, choose)
    shown[#shown + 1] = vim.tbl_map(options.format_item, items)
    choose(items[1])
  end
  local left = 2
  for _, writes in ipairs({ '', 'network.approved: [x.example]' }) do
    coroutine.wrap(function()
      approve.ask({ run = 'r', text = 'may it?', setting = 's', writes = writes, file = '/f' })
      left = left - 1
    end)()
  end
  T.wait('the answers', function()
    return left == 0
  end)
  vim.ui.select = select
  local always = 'Yes, always: writes network.approved: [x.example] to /f, every name below it, too, in every project'
  T.eq(shown, { { 'No', 'Yes, for this run' }, { 'No', 'Yes, for this run', always } })
end)

T.test('a question whose run has ended waits no longer', function()
  local approve, select, late = require('sidecar.approve'), vim.ui.select, nil
  vim.ui.select = function(_, _, choose)
    late = choose
  end
  local answer
  coroutine.wrap(function()
    answer = approve.ask({ run = 'r', text = 'may it?' })
  end)()
  T.wait('the question', function()
    return late
  end)
  T.eq(approve.waiting(), 1)
  require('sidecar.events').handlers['sidecar/runEnded'](nil, { run = { id = 'r', started = '', ['end'] = {} } })
  T.wait('the answer', function()
    return answer
  end)
  late({ 'always' })
  vim.ui.select = select
  T.eq({ answer, approve.waiting() }, { { answer = 'no' }, 0 })
end)

T.test('the sidecar is killed: it is connected again, and that is said', function()
  local dir = T.project('killed', 'a.sh', 'echo begun; sleep 60')
  vim.cmd('Sidecar run')
  T.output('begun')
  local answered
  require('sidecar.client').request(dir, 'sidecar/status', {}, function(_, s)
    answered = s
  end)
  T.wait('the status', function()
    return answered
  end)
  vim.uv.kill(answered.pid, 'sigkill')
  T.noticed('died; its runs ended with it')
  T.noticed('connected again')
  T.wait('word in the output', function()
    return vim.b[T.outputs()[1]].sidecar_title:find('not done')
  end)
  T.eq(runs.list(true), {})
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'echo after' })
  vim.cmd('Sidecar run')
  T.has(T.finished(), 'after\nexit 0')
end)

T.test('`sidecar lsp` is killed: the run is given up, the next works', function()
  T.project('lsp', 'a.sh', 'echo begun; sleep 60')
  vim.cmd('Sidecar run')
  T.output('begun')
  local client = T.client()
  for _, pid in ipairs(vim.api.nvim_get_proc_children(vim.fn.getpid())) do
    if vim.api.nvim_get_proc(pid).name == 'sidecar' then
      vim.uv.kill(pid, 'sigkill')
    end
  end
  T.output('the connection has ended')
  T.noticed('ended with signal 9')
  T.wait('the old client to go', function()
    return T.client() ~= client
  end)
  vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'echo after' })
  vim.cmd('Sidecar run')
  T.has(T.finished(), 'after\nexit 0')
end)

T.test('a client of that name that somebody else started is left alone', function()
  T.project('stranger', 'a.sh', 'echo mine')
  local id = vim.lsp.start({ name = 'sidecar', cmd = { 'sidecar', 'lsp' }, root_dir = vim.uv.cwd() })
  local stranger = vim.lsp.get_client_by_id(id)
  T.wait('the stranger', function()
    return stranger.initialized
  end)
  vim.cmd('Sidecar run')
  T.has(T.finished(), 'mine\nexit 0')
  assert(require('sidecar.client').get().id ~= id)
  stranger.stop()
  T.wait('its end', function()
    return not vim.lsp.get_client_by_id(id)
  end)
end)

T.test('environments and the state are listed', function()
  local dir = T.project('lists')
  vim.cmd('Sidecar envs')
  T.wait('the environments', function()
    return vim.fn.bufnr('sidecar://envs') > 0 and T.text(vim.fn.bufnr('sidecar://envs')):find('bash')
  end)
  vim.cmd('Sidecar status')
  T.wait('the state', function()
    return vim.fn.bufnr('sidecar://status') > 0 and T.text(vim.fn.bufnr('sidecar://status')):find(dir, 1, true)
  end)
end)
