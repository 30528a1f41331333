-- Borrows into the bucket.
--
-- KEYS: root   ARGV: app amount
-- Result: {'ok', debt} or {'err', 'unknown_app' | 'refused', reason, wait, available}
-- Example: app-a 100000000 -> {'ok', 120000000}
local function borrow(id, amount)
  book.advance()
  local app = apps.bring_up(id)
  if not app then
    return book.err('unknown_app')
  end
  if l1.emergency ~= OFF then
    return book.refused(EMERGENCY_QUOTA_EXCEEDED, -1, 0)
  end
  local left = minus(app.loan_limit, app.borrowed)
  if amount > left then
    return book.refused(BORROW_LIMIT_EXCEEDED, -1, left)
  end
  local spendable = cluster.spendable()
  if amount > spendable or spendable == 0 then
    return book.refused(CLUSTER_INSUFFICIENT, -1, spendable)
  end
  local room = minus(apps.room(app), app.rights)
  if amount > room then
    return book.refused(BORROW_LIMIT_EXCEEDED, -1, room)
  end
  return book.ok(apps.borrow(app, amount))
end

rare()
local failure = book.open(2, { '' }) or book.complaint(2)
if failure then
  return failure
end
return book.commit(borrow(ARGV[1], tonumber(ARGV[2])))
