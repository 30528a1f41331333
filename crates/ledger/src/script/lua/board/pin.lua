-- A node pins a note about itself, in place of the one before.
--
-- KEYS: root   ARGV: node text
-- Result: {'ok'}
-- Example: node-1 '{"version":7}' -> {'ok'}
--
-- <root>:board:pinned has the nodes by when they pinned, <root>:board:notes their texts.
local NOTE_TTL, CHORES = 15000, 64

if #KEYS ~= 1 or #ARGV ~= 2 then
  return { 'err', 'arity', #KEYS, #ARGV, 2 }
end

local now = clock()
local pinned, notes = KEYS[1] .. ':board:pinned', KEYS[1] .. ':board:notes'
local node, note = ARGV[1], ARGV[2]

local function text(number)
  return string.format('%.0f', number)
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', pinned, '-inf', text(now - NOTE_TTL), 'LIMIT', 0, CHORES)) do
  redis.call('ZREM', pinned, id)
  redis.call('HDEL', notes, id)
end
redis.call('ZADD', pinned, text(now), node)
redis.call('HSET', notes, node, note)
redis.call('PEXPIRE', pinned, NOTE_TTL)
redis.call('PEXPIRE', notes, NOTE_TTL)
return { 'ok' }
