-- Gives tokens back that were taken in advance and are not wanted any more.
--
-- KEYS[1]  the bucket
-- ARGV[1]  n  tokens
-- result   tokens that are still taken, rounded up; nothing changes if the bucket is gone
--
-- Example: after gcra took 3 of an empty bucket, `EVAL ... 1 k 1` gives 2.

if #KEYS ~= 1 or #ARGV ~= 1 then
  return redis.error_reply('ERR give_back takes 1 key and 1 argument')
end

local kept = redis.call('GET', KEYS[1])
local at, ahead = string.match(kept or '', '^(%d+) (.+)$')
if not at then
  return 0
end
local taken = math.max(0, tonumber(ahead) - tonumber(ARGV[1]))
redis.call('SET', KEYS[1], string.format('%s %.17g', at, taken), 'KEEPTTL')
return math.ceil(taken)
