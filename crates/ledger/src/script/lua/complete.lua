-- The work of a reservation is done: gives back the excess, or takes the shortfall.
--
-- KEYS: root   ARGV: id actual
-- Result: {'ok', refund, charged, owed} or {'err', 'no_reservation' | 'unknown_app'}
-- Example: 4f1c 5000000 -> {'ok', 2000000, 0, 0}
local function complete_reservation(id, actual)
  book.advance()
  local settled, failure = reservations.settle(id, actual)
  return settled and book.ok(unpack(settled)) or book.err(failure)
end

rare()
local failure = book.open(2, { '' }) or book.complaint(2)
if failure then
  return failure
end
return book.commit(complete_reservation(ARGV[1], tonumber(ARGV[2])))
