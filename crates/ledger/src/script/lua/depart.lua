-- A node says goodbye with its last call. What it has not given back is written off. Said again, it is stale: to take it
-- for a call of a node that the ledger has forgotten would make everybody start over.
--
-- KEYS: root   ARGV: as those of sync
-- Result: as that of sync
-- Example: node-1 (1 9 8) app-a (0 0 9000000 0 0 0 0)
--   -> {'ok', (1700000000000 1699999999999 1 5000 0 0 0 0 0 10000000000 0 1 0)}, what is in brackets being packed
rare()
local fields = sync.fields()
local failure = book.open(fields and #ARGV or 2, fields or {})
if failure then
  return failure
end
if calls.is_repeated_goodbye(ARGV[2], nodes.find(ARGV[1], fields)) then
  return book.err('stale')
end
local result = sync.answer(fields)
if result[1] == 'ok' then
  nodes.bury(nodes.find(ARGV[1], fields))
end
return book.commit(result)
