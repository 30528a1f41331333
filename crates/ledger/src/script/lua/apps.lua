-- A page of applications in the order of their ids, brought up to now.
--
-- KEYS: root   ARGV: after limit
--   after is the id of the last one known, or nothing.
-- Result: {'ok', app...}, each {app, version, terms..., body, rights, meter, outstanding, burst_drawn, burst_opened_at,
--   borrowed, debt, refilled_at, suspect_rate, total_consumed, total_requests, operations, at[, carry, terms..., body]},
--   where operations is a row as it is stored, and at is when a change takes effect that is scheduled; -1 if none is
-- Example: '' 256 -> {'ok', {'app-a', 1, 10000000, ..., '{}', 10000000000, ..., 0, '', -1}}
local STATE = {
  'rights', 'meter', 'outstanding', 'burst_drawn', 'burst_opened_at', 'borrowed', 'debt', 'refilled_at',
  'suspect_rate', 'total_consumed', 'total_requests',
}

local function app_view(id, operations)
  local app = apps.bring_up(id)
  local list = view.policy(app)
  for _, field in ipairs(STATE) do
    list[#list + 1] = app[field]
  end
  list[#list + 1] = operations or ''
  local change = policy.next(id)
  list[#list + 1] = change and change.at or -1
  if change then
    list[#list + 1] = change.carry
    view.add_policy(list, change, change.body)
  end
  return list
end

local function page(after, limit)
  book.advance()
  local from = after == '' and '-' or '(' .. after
  local result = book.ok()
  local ids = redis.call('ZRANGEBYLEX', app_index, from, '+', 'LIMIT', 0, limit)
  if #ids == 0 then
    return result
  end
  apps.load(ids)
  for i, operations in ipairs(redis.call('HMGET', root .. ':operations', unpack(ids))) do
    result[#result + 1] = app_view(ids[i], operations)
  end
  return result
end

rare()
local failure = book.open(2, { '' }) or book.complaint(2)
if failure then
  return failure
end
return book.commit(page(ARGV[1], view.page(tonumber(ARGV[2]))))
