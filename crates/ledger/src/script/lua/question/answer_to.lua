-- The answer to an open question.
--
-- KEYS: root   ARGV: name
-- Result: {'ok', text}, or {'ok'} if there is none, or one that is too long for a node to have left it
-- Example: 00000000000000000000000000000007 -> {'ok', '{"at":5}'}
local QUESTION_TTL, MAX_ANSWER = 2000, 4096

if #KEYS ~= 1 or #ARGV ~= 1 then
  return { 'err', 'arity', #KEYS, #ARGV, 1 }
end

local questions, answers = KEYS[1] .. ':questions', KEYS[1] .. ':answers'
local name = ARGV[1]
local asked = tonumber(redis.call('ZSCORE', questions, name) or nil)
if not asked or clock() - asked >= QUESTION_TTL then
  return { 'ok' }
end
local answer = redis.call('HGET', answers, name)
if not answer or #answer > MAX_ANSWER then
  return { 'ok' }
end
return { 'ok', answer }
