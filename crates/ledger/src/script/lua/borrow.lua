-- Borrows into the bucket.
--
-- KEYS: root   ARGV: app amount
-- Result: {'ok', debt} or {'err', 'unknown_app' | 'refused', reason, wait, available}
-- Example: app-a 100000000 -> {'ok', 120000000}
local function borrow(id, amount)
  book.advance()
  local app = book.bring_up(id)
  if not app then
    return book.err('unknown_app')
  end
  if l1.emergency ~= OFF then
    return book.refused('emergency_quota_exceeded', nil, 0)
  end
  local left = minus(app.loan_limit, app.borrowed)
  if amount > left then
    return book.refused('borrow_limit_exceeded', nil, left)
  end
  local spendable = cluster.spendable()
  if amount > spendable or spendable == 0 then
    return book.refused('cluster_insufficient', nil, spendable)
  end
  local room = minus(apps.room(app), app.rights)
  if amount > room then
    return book.refused('borrow_limit_exceeded', nil, room)
  end
  return book.ok(apps.borrow(app, amount))
end

local failure = book.check(2)
if failure then
  return failure
end
return book.commit(borrow(ARGV[1], tonumber(ARGV[2])))
