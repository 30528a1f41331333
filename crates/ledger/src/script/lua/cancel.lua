-- The work of a reservation was given up: all of it comes back.
--
-- KEYS: root   ARGV: id
-- Result: {'ok', refund, charged, owed} or {'err', 'no_reservation' | 'unknown_app'}
-- Example: 4f1c -> {'ok', 7000000, 0, 0}
local function cancel(id)
  book.advance()
  local settled, failure = reservations.settle(id, 0)
  return settled and book.ok(unpack(settled)) or book.err(failure)
end

rare()
local failure = book.open(1, { '' })
if failure then
  return failure
end
return book.commit(cancel(ARGV[1]))
