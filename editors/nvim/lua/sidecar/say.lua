--- Messages to the person, and words for runs.
local M = {}

local function at(level)
  return function(text)
    vim.notify('sidecar: ' .. text, level)
  end
end

M.info, M.warn, M.error = at(vim.log.levels.INFO), at(vim.log.levels.WARN), at(vim.log.levels.ERROR)

--- message shows a window/showMessage of the server (LSP, MessageType).
function M.message(kind, text)
  local levels = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO }
  vim.notify(text, levels[kind] or vim.log.levels.DEBUG)
end

--- fault is an error of the channel in words, with its hint.
function M.fault(err)
  local hint = type(err.data) == 'table' and err.data.hint
  return (err.message or tostring(err)) .. (hint and hint ~= '' and '\n' .. hint or '')
end

--- elapsed writes a duration in milliseconds.
function M.elapsed(ms)
  if ms < 1000 then
    return ('%d ms'):format(ms)
  elseif ms < 60000 then
    return ('%.1f s'):format(ms / 1000)
  elseif ms < 3600000 then
    return ('%d min %02d s'):format(ms / 60000, ms / 1000 % 60)
  end
  return ('%d h %02d min'):format(ms / 3600000, ms / 60000 % 60)
end

--- size writes a number of bytes.
function M.size(bytes)
  local units, i = { 'B', 'kB', 'MB', 'GB', 'TB' }, 1
  while bytes >= 1000 and i < #units do
    bytes, i = bytes / 1000, i + 1
  end
  return (i == 1 and '%d %s' or '%.1f %s'):format(bytes, units[i])
end

--- seconds reads a time of RFC 3339, and gives seconds since 1970; 0 where it is none.
function M.seconds(time)
  local y, mo, d, h, mi, s, frac, zone = tostring(time):match('^(%d+)-(%d+)-(%d+)T(%d+):(%d+):(%d+)(%.?%d*)(.*)$')
  if not y then
    return 0
  end
  -- the number of days, after Howard Hinnant's days_from_civil
  y, mo, d = tonumber(y), tonumber(mo), tonumber(d)
  y = mo <= 2 and y - 1 or y
  local era = math.floor(y / 400)
  local doy = math.floor((153 * (mo + (mo > 2 and -3 or 9)) + 2) / 5) + d - 1
  local yoe = y - era * 400
  local doe = yoe * 365 + math.floor(yoe / 4) - math.floor(yoe / 100) + doy
  local total = (era * 146097 + doe - 719468) * 86400 + h * 3600 + mi * 60 + s + (tonumber('0' .. frac) or 0)
  local sign, zh, zm = zone:match('^([+-])(%d%d):(%d%d)$')
  return sign and total - (sign == '+' and 1 or -1) * (zh * 3600 + zm * 60) or total
end

--- what says in a line what a run runs.
function M.what(run)
  if run.command and #run.command > 0 then
    return M.line(table.concat(run.command, ' '))
  end
  local code = (run.code or ''):match('%S[^\n]*') or ''
  return M.line((run.language or 'code') .. ': ' .. code)
end

--- line makes one printable line of a text that others wrote.
function M.line(text)
  return (text:gsub('[%z\1-\31\127]+', ' '))
end

--- outcome says how a run ended.
function M.outcome(ended)
  local took = ended.durationMs and ' in ' .. M.elapsed(ended.durationMs) or ''
  if ended.lost then
    return 'lost: its sidecar died'
  elseif ended.error then
    return 'not done: ' .. M.line(ended.error.message or 'no reason given')
  elseif ended.limit and ended.limit ~= '' then
    return ('ended at the limit of %s%s'):format(ended.limit, took)
  elseif ended.cancelled then
    return 'cancelled' .. (ended.durationMs and ' after ' .. M.elapsed(ended.durationMs) or '')
  elseif ended.signal and ended.signal ~= '' then
    return ended.signal .. took
  end
  return ('exit %d%s'):format(ended.exitCode or 0, took)
end

--- finding is one line about a finding, with paths relative to the workspace.
function M.finding(f, workspace)
  local function short(path)
    local root = (workspace or '') .. '/'
    return M.line(vim.startswith(path, root) and root ~= '/' and path:sub(#root + 1) or path)
  end
  local text = ('%s %s: %s'):format(f.action or 'noticed', short(f.path or ''), M.line(f.reason or ''))
  if f.movedTo and f.movedTo ~= '' then
    text = text .. '; it is now ' .. short(f.movedTo)
  end
  return text
end

--- denial is one line about a denial.
function M.denial(d)
  local text = 'denied ' .. (d.method and d.method .. ' ' or '') .. (d.host or '') .. (d.port and ':' .. d.port or '')
  text = text .. ': ' .. (d.why or '')
  if d.setting and d.setting ~= '' then
    text = text .. ' (' .. d.setting .. ' would allow it)'
  end
  return M.line(text)
end

return M
