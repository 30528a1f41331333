-- Pays back from the bucket, as far as there is debt and there are rights.
--
-- KEYS: root   ARGV: app amount
-- Result: {'ok', paid, principal} or {'err', 'unknown_app'}
-- Example: app-a 60000000 -> {'ok', 60000000, 50000000}
local function repay(id, amount)
  book.advance()
  local app = apps.bring_up(id)
  if not app then
    return book.err('unknown_app')
  end
  return book.ok(apps.repay(app, amount))
end

rare()
local failure = book.open(2, { '' }) or book.complaint(2)
if failure then
  return failure
end
return book.commit(repay(ARGV[1], tonumber(ARGV[2])))
