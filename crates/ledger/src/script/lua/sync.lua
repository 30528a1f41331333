-- A node reports and asks: see the library for the arguments and the reply.
--
-- KEYS: root   ARGV: node head (app entry)*
-- Result: {'ok', reply} or {'err', 'fenced' | 'stale' | 'unseeded' | 'invalid'}
-- Example: node-1 (1 1 0) app-a (0 0 0 0 5000000 9000000 100000)
--   -> {'ok', (1700000000000 1699999999999 1 5000 0 0 0 0 9000000 9991000000 0 1 0)}, what is in brackets being packed
local fields = sync.fields()
local failure = book.open(fields and #ARGV or 2, fields or {}) or sync.complaint()
if failure then
  return failure
end
local result, node = sync.answer(fields)
return node and book.commit(result) or result
