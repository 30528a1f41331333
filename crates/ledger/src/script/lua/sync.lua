-- A node reports and asks: see the library for the arguments and the reply.
--
-- KEYS: root   ARGV: node incarnation seq acked (app spent requests returned holding need want fallback)*
-- Result: {'ok', reply} or {'err', 'fenced' | 'stale' | 'unseeded'}
-- Example: node-1 00000000000000000001 00000000000000000001 00000000000000000000 app-a 0 0 0 0 5000000 9000000 100000
--   -> {'ok', '1700000000000 1 1 5000 0 0 0 0 9000000 9991000000 0 1 -'}
local call = sync.read()
local failure = book.check(call and #ARGV or SYNC_HEAD)
if failure then
  return failure
end
return book.commit(sync.answer(call))
