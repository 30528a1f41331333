-- Takes tokens of a window that opens with the first of them.
--
-- KEYS[1]  the window's counter
-- ARGV[1]  n       tokens to take, at least 1
-- ARGV[2]  amount  tokens in a window
-- ARGV[3]  length  of a window, in milliseconds
-- result   { 1 if taken else 0, tokens left, milliseconds to wait (-1 if for ever), milliseconds until it ends }
--
-- Example: 5 in a second, an empty window: `EVAL ... 1 k 3 5 1000` gives { 1, 2, 0, 1000 }; once more, 200 ms later,
-- { 0, 2, 800, 800 }.

if #KEYS ~= 1 or #ARGV ~= 3 then
  return redis.error_reply('ERR fixed_window takes 1 key and 3 arguments')
end

local n, amount, length = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local used = tonumber(redis.call('GET', KEYS[1]) or '0') or 0
local left = redis.call('PTTL', KEYS[1])
if used > 0 and left == -1 then
  -- Somebody died between counting and setting an end, or it was written by hand: it must not count for ever.
  redis.call('PEXPIRE', KEYS[1], length)
  left = length
end

if n > amount then
  return { 0, math.max(0, amount - used), -1, math.max(0, left) }
end
if used + n > amount then
  return { 0, math.max(0, amount - used), math.max(1, left), math.max(0, left) }
end
local total = redis.call('INCRBY', KEYS[1], n)
if total == n then
  redis.call('PEXPIRE', KEYS[1], length)
  left = length
end
return { 1, amount - total, 0, math.max(0, left) }
