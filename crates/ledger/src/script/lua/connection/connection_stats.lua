-- What the nodes last told about their connections, for those that did lately.
--
-- KEYS: root   ARGV: none
-- Result: {'ok', (node, {field, value, ...})*} with the fields at, totals and a:<app> for each application
-- Example: -> {'ok', 'node-1', {'at', '1700000000000', 'totals', '3 9 0 5 12 1 0', 'a:app-a', '3 9 0 5 12 1 0'}}
local STATS_TTL, MAX_NODES = 30000, 1000

if #KEYS ~= 1 or #ARGV ~= 0 then
  return { 'err', 'arity', #KEYS, #ARGV, 0 }
end

local root = KEYS[1] .. ':conn'
local since = string.format('%.0f', clock() - STATS_TTL + 1)
local answer = { 'ok' }
for _, node in ipairs(redis.call('ZRANGEBYSCORE', root .. ':reporters', since, '+inf', 'LIMIT', 0, MAX_NODES)) do
  local stats = redis.call('HGETALL', root .. ':stats:' .. node)
  if #stats > 0 then
    answer[#answer + 1] = node
    answer[#answer + 1] = stats
  end
end
return answer
