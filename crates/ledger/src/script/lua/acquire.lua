-- Spends all of a cost or nothing.
--
-- KEYS: root   ARGV: app cost
-- Result: {'ok', rights left} or {'err', 'unknown_app' | 'refused', reason, wait, available}
-- Example: app-a 5000000 -> {'ok', 9995000000}
local function acquire(id, cost)
  book.advance()
  local app = apps.bring_up(id)
  if not app then
    return book.err('unknown_app')
  end
  return book.spend_now(app, cost) or book.ok(app.rights)
end

rare()
local failure = book.open(2, { '' }) or book.complaint(2)
if failure then
  return failure
end
return book.commit(acquire(ARGV[1], tonumber(ARGV[2])))
