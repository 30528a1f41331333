-- A node says goodbye with its last call. What it has not given back is written off. Said again, it is stale: to take it
-- for a call of a node that the ledger has forgotten would make everybody start over.
--
-- KEYS: root   ARGV: as those of sync
-- Result: as that of sync
-- Example: node-1 00000000000000000001 00000000000000000009 00000000000000000008 app-a 0 0 9000000 0 0 0 0
--   -> {'ok', '1700000000000 1 1 5000 0 0 0 0 0 10000000000 0 1 -'}
local call = sync.read()
local failure = book.check(call and #ARGV or SYNC_HEAD)
if failure then
  return failure
end
if call.acked ~= NO_CALL and redis.call('EXISTS', root .. ':node:' .. call.node) == 0 then
  return book.err('stale')
end
local result = sync.answer(call)
if result[1] == 'ok' then
  nodes.bury(nodes.find(call.node))
end
return book.commit(result)
