-- Leaves an answer for whoever asked, in place of one that is there.
--
-- KEYS: root   ARGV: name text
-- Result: {'ok', 1}, or {'ok', 0} if there is no such question, or not any more
-- Example: 00000000000000000000000000000007 '{"at":5}' -> {'ok', 1}
local QUESTION_TTL, MAX_ANSWER = 2000, 4096

if #KEYS ~= 1 or #ARGV ~= 2 then
  return { 'err', 'arity', #KEYS, #ARGV, 2 }
end

local questions, answers = KEYS[1] .. ':questions', KEYS[1] .. ':answers'
local name, answer = ARGV[1], ARGV[2]
local asked = tonumber(redis.call('ZSCORE', questions, name) or nil)
if not asked or clock() - asked >= QUESTION_TTL or #answer > MAX_ANSWER then
  return { 'ok', 0 }
end
redis.call('HSET', answers, name, answer)
redis.call('PEXPIRE', answers, QUESTION_TTL)
return { 'ok', 1 }
