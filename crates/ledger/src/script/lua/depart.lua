-- A node says goodbye with its last call. What it has not given back is written off. Said again, as when the answer
-- got lost, it is stale.
--
-- KEYS: root   ARGV: as those of sync
-- Result: as that of sync
-- Example: node-1 (1 9 8) app-a (0 0 9000000 0 0 0 0)
--   -> {'ok', (1700000000000 1699999999999 1 5000 0 0 0 0 0 10000000000 0 1 0)}, what is in brackets being packed
rare()
local fields = sync.fields()
local failure = book.open(fields and #ARGV or 2, fields or {}) or sync.complaint()
if failure then
  return failure
end
local result, node = sync.answer(fields)
if not node then
  return result
end
nodes.retire(node)
return book.commit(result)
