-- A node asks the others of its cluster, and whoever listens is told.
--
-- KEYS: root   ARGV: name text
-- Result: {'ok', how many were told}, or {'ok'} if too many questions are open
-- Example: 00000000000000000000000000000007 'decision 2a' -> {'ok', 2},
--   and '00000000000000000000000000000007 decision 2a' is published to ratelimit:questions:{c}
--
-- <root>:questions has the names of the open ones by when they were asked, <root>:answers what was answered. What is in
-- braces puts the channel into the slot of the keys.
local QUESTION_TTL, MAX_OPEN, MAX_NAME, MAX_QUESTION, CHORES = 2000, 32, 32, 256, 64

if #KEYS ~= 1 or #ARGV ~= 2 then
  return { 'err', 'arity', #KEYS, #ARGV, 2 }
end

local now = clock()
local questions, answers = KEYS[1] .. ':questions', KEYS[1] .. ':answers'
local name, question = ARGV[1], ARGV[2]

local function text(number)
  return string.format('%.0f', number)
end

-- As with changes: in the shard where nodes listen there, else to everybody.
local function tell(message)
  local channel = 'ratelimit:questions:' .. string.match(KEYS[1], '{.*}')
  local heard = redis.pcall('SPUBLISH', channel, message)
  if type(heard) ~= 'number' or heard == 0 then
    heard = redis.pcall('PUBLISH', channel, message)
  end
  return type(heard) == 'number' and heard or 0
end

for _, old in ipairs(redis.call('ZRANGEBYSCORE', questions, '-inf', text(now - QUESTION_TTL), 'LIMIT', 0, CHORES)) do
  redis.call('ZREM', questions, old)
  redis.call('HDEL', answers, old)
end
if #name > MAX_NAME or #question > MAX_QUESTION or redis.call('ZCARD', questions) >= MAX_OPEN then
  return { 'ok' }
end
redis.call('ZADD', questions, text(now), name)
redis.call('PEXPIRE', questions, QUESTION_TTL)
return { 'ok', tell(name .. ' ' .. question) }
