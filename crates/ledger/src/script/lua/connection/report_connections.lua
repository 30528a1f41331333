-- A node tells how its connections are doing, and what happened.
--
-- KEYS: root   ARGV: node totals apps (app counts)*apps (app age kind count client)*
-- Result: {'ok'}
-- Example: node-1 '3 9 0 5 12 1 0' 1 app-a '3 9 0 5 12 1 0' app-a 40 app_limit_exceeded 1 - -> {'ok'}
--
-- Counts are kept as the texts they are. <root>:conn:stats:<node> has at, totals and a field a:<app> for each application;
-- <root>:conn:reporters the nodes by when they reported; <root>:conn:events:<app> the last events, the newest first, each
-- 'at node kind count client'.
local HEAD, APP, EVENT = 3, 2, 5
local STATS_TTL, EVENTS_TTL, MAX_EVENTS, CHORES = 30000, 604800000, 1000, 64

local apps = tonumber(ARGV[HEAD] or '') or -1
local first_event = HEAD + apps * APP + 1
if #KEYS ~= 1 or #ARGV < HEAD or apps < 0 or apps % 1 ~= 0 or #ARGV + 1 < first_event or (#ARGV + 1 - first_event) % EVENT ~= 0 then
  return { 'err', 'arity', #KEYS, #ARGV, HEAD }
end

local now = clock()
local root = KEYS[1] .. ':conn'
local reporters = root .. ':reporters'
local node, totals = ARGV[1], ARGV[2]

local function text(number)
  return string.format('%.0f', number)
end

local function stats_key(id)
  return root .. ':stats:' .. id
end

redis.call('DEL', stats_key(node))
redis.call('HSET', stats_key(node), 'at', text(now), 'totals', totals)
for i = HEAD + 1, first_event - 1, APP do
  redis.call('HSET', stats_key(node), 'a:' .. ARGV[i], ARGV[i + 1])
end
redis.call('PEXPIRE', stats_key(node), STATS_TTL)
redis.call('ZADD', reporters, text(now), node)

-- Their statistics have expired by themselves.
local stale = redis.call('ZRANGEBYSCORE', reporters, '-inf', text(now - STATS_TTL), 'LIMIT', 0, CHORES)
for _, id in ipairs(stale) do
  redis.call('ZREM', reporters, id)
end

for i = first_event, #ARGV, EVENT do
  local events = root .. ':events:' .. ARGV[i]
  -- What is no number is no age: half of this would stay written.
  local age = tonumber(ARGV[i + 1]) or 0
  local at = age >= 0 and math.max(now - age, 0) or now
  redis.call('LPUSH', events, table.concat({ text(at), node, ARGV[i + 2], ARGV[i + 3], ARGV[i + 4] }, ' '))
  redis.call('LTRIM', events, 0, MAX_EVENTS - 1)
  redis.call('PEXPIRE', events, EVENTS_TTL)
end
return { 'ok' }
