-- Takes tokens of a bucket by the generic cell rate algorithm, at the server's own time.
--
-- The algorithm: `new = max(last, now) + n / rate` may not be later than `now + burst / rate`. What is kept is not that
-- moment but when it was last looked at and how many tokens it lay ahead then, which says the same: a moment in
-- microseconds and the fractions of it do not fit into a double, a few tokens and their fractions do.
--
-- KEYS[1]  the bucket
-- ARGV[1]  n        tokens to take, at least 1
-- ARGV[2]  amount   tokens per period
-- ARGV[3]  period   in microseconds
-- ARGV[4]  burst    tokens that may be taken at once
-- ARGV[5]  patience microseconds that the caller would wait: tokens that come up by then are taken in advance
-- result   { 1 if taken else 0, tokens left, microseconds to wait (-1 if for ever), microseconds until it is full }
--
-- Example: 10 a second, 5 at once, an empty bucket: `EVAL ... 1 k 3 10 1000000 5 0` gives { 1, 2, 0, 300000 };
-- the same once more gives { 0, 2, 100000, 300000 }, and with a patience of a second { 1, 0, 100000, 600000 }.

if #KEYS ~= 1 or #ARGV ~= 5 then
  return redis.error_reply('ERR gcra takes 1 key and 5 arguments')
end

local n, amount, period = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local burst, patience = tonumber(ARGV[4]), tonumber(ARGV[5])
local rate = amount / period

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000000 + tonumber(clock[2])

local taken, seen = 0, now
local kept = redis.call('GET', KEYS[1])
if kept then
  local at, ahead = string.match(kept, '^(%d+) (.+)$')
  if at then
    -- A clock that stepped back refills nothing.
    seen = math.max(now, tonumber(at))
    taken = math.max(0, tonumber(ahead) - (seen - tonumber(at)) * rate)
  end
end

-- Tokens are added up in doubles: the last one of a burst must not fail for a rounding.
local tolerance = 1e-6
local missing = taken + n - burst
local wait = 0
if missing > tolerance then
  wait = math.ceil(missing / rate)
end

local allowed = 0
if n <= burst and wait <= patience then
  allowed, taken = 1, taken + n
  local ttl = math.max(1, math.ceil(2 * math.max(burst, taken) / rate / 1000000))
  redis.call('SET', KEYS[1], string.format('%.0f %.17g', seen, taken), 'EX', ttl)
end
if n > burst then
  wait = -1
end
return { allowed, math.max(0, math.floor(burst - taken + tolerance)), wait, math.ceil(taken / rate) }
