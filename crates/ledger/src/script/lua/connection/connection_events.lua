-- The last events of an application, the newest first.
--
-- KEYS: root   ARGV: app limit
-- Result: {'ok', event*}, each event a text 'at node kind count client', where client is - for none
-- Example: app-a 1 -> {'ok', '1700000000000 node-1 app_limit_exceeded 7 -'}
local EVENTS_TTL, MAX_EVENTS = 604800000, 1000

if #KEYS ~= 1 or #ARGV ~= 2 then
  return { 'err', 'arity', #KEYS, #ARGV, 2 }
end

local app, limit = ARGV[1], math.min(tonumber(ARGV[2]), MAX_EVENTS)
local now = clock()
local answer = { 'ok' }
if limit > 0 then
  for _, event in ipairs(redis.call('LRANGE', KEYS[1] .. ':conn:events:' .. app, 0, limit - 1)) do
    if now - tonumber(event:match('^%d+')) < EVENTS_TTL then
      answer[#answer + 1] = event
    end
  end
end
return answer
