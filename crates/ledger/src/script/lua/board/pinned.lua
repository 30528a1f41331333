-- The notes that nodes pinned lately.
--
-- KEYS: root   ARGV: none
-- Result: {'ok', (node, text)*}
-- Example: -> {'ok', 'node-1', '{"version":7}'}
local NOTE_TTL, MAX_NODES = 15000, 1000

if #KEYS ~= 1 or #ARGV ~= 0 then
  return { 'err', 'arity', #KEYS, #ARGV, 0 }
end

local pinned, notes = KEYS[1] .. ':board:pinned', KEYS[1] .. ':board:notes'
local since = string.format('%.0f', clock() - NOTE_TTL + 1)
local answer = { 'ok' }
for _, node in ipairs(redis.call('ZRANGEBYSCORE', pinned, since, '+inf', 'LIMIT', 0, MAX_NODES)) do
  local note = redis.call('HGET', notes, node)
  if note then
    answer[#answer + 1] = node
    answer[#answer + 1] = note
  end
end
return answer
