-- The changes that are scheduled, the earliest first.
--
-- KEYS: root   ARGV: skip limit
-- Result: {'ok', change...}, each {app, at, carry, terms..., body}
-- Example: 0 256 -> {'ok', {'app-a', 1700000060000, 'keep', 10000000, ..., '{}'}}
local function page(skip, limit)
  book.advance()
  local result = book.ok()
  for _, id in ipairs(redis.call('ZRANGE', root .. ':pending', skip, skip + limit - 1)) do
    local change = policy.next(id)
    local list = { id, change.at, change.carry }
    view.add_policy(list, change, change.body)
    result[#result + 1] = list
  end
  return result
end

rare()
local failure = book.open(2, { '' }) or book.complaint(1, 2)
if failure then
  return failure
end
return book.commit(page(tonumber(ARGV[1]), view.page(tonumber(ARGV[2]))))
