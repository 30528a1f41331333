-- Takes an estimate now, for work whose cost is known only when it is done.
--
-- KEYS: root   ARGV: id app estimate timeout
-- Result: {'ok', estimate, expires_at} or {'err', 'unknown_app' | 'refused', reason, wait, available}
-- Example: 4f1c app-a 7000000 3600000 -> {'ok', 7000000, 1700003600000}
local function reserve(id, app_id, estimate, timeout)
  book.advance()
  local held = reservations.find(id)
  if held then
    -- The answer got lost and the call came again.
    return book.ok(held.estimate, held.expires_at)
  end
  local app = apps.bring_up(app_id)
  if not app then
    return book.err('unknown_app')
  end
  local refusal = reservations.refusal(app) or book.spend_now(app, estimate)
  if refusal then
    return refusal
  end
  reservations.open(id, app, estimate, now + timeout)
  return book.ok(estimate, now + timeout)
end

rare()
local failure = book.open(4, { '' }) or book.complaint(3, 4)
if failure then
  return failure
end
return book.commit(reserve(ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])))
