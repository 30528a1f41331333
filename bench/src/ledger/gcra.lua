-- A bare rate limiter: the generic cell rate algorithm on one key, and nothing else.
--
-- KEYS: key   ARGV: interval tolerance, in microseconds: the time a token takes to accrue, and how far ahead of the clock
--   the key may get
-- Result: 1 if a token was taken, 0 if not
-- Example: key 20 2000000 -> 1 (50,000 a second, at most two seconds ahead)
if #KEYS ~= 1 or #ARGV ~= 2 then
  return redis.error_reply('expected 1 key and 2 arguments')
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000000 + tonumber(time[2])
local ahead = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now) + tonumber(ARGV[1])
if ahead - now > tonumber(ARGV[2]) then
  return 0
end
redis.call('SET', KEYS[1], string.format('%.0f', ahead), 'PX', math.ceil((ahead - now) / 1000))
return 1
