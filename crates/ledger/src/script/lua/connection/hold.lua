-- A node tells which slots it holds and gets those it needs, as far as the limits allow. A slot is the right to one
-- open connection.
--
-- KEYS: root   ARGV: node incarnation seq acked leaving cluster_max (app holds need want max burst)*
-- Result: {'ok', reply} or {'err', 'fenced' | 'stale'}
-- Example: node-1 00000000000000000001 00000000000000000001 00000000000000000000 0 5000 app-a 0 1 9 1000 1500
--   -> {'ok', '30000 9 0 9 9 -'}
--
-- incarnation, seq and acked are texts of twenty digits; leaving is 1 for goodbye. The reply is one text, which is kept
-- with the node in case it gets lost: 'ttl cluster_total is_partial', then for each application
-- ' slots app_total shortage', where shortage is - for none.
--
-- <root>:conn               total, learning_until
-- <root>:conn:apps          for each application, how many slots are out
-- <root>:conn:node:<id>     incarnation, seq, reply
-- <root>:conn:held:<life>   for each application, how many slots a life of a node holds; a life is incarnation:node
-- <root>:conn:heard         lives by when they were last heard of, 0 for those that are over
local HEAD, ENTRY = 6, 6
local SLOT_TTL, LEARNING, CHORES = 30000, 3000, 64
local LINE, ONE, AHEAD = 8000, 10000, 4

if #KEYS ~= 1 or #ARGV < HEAD or (#ARGV - HEAD) % ENTRY ~= 0 then
  return { 'err', 'arity', #KEYS, #ARGV, HEAD }
end

-- Looked at before anything is written: a script that stops in the middle leaves what it has done.
local function is_count(text)
  local number = tonumber(text)
  return number and number >= 0 and number <= 4503599627370496
end

local function is_serial(text)
  return #text == 20 and not text:find('%D')
end

for i = HEAD, #ARGV do
  if (i - HEAD) % ENTRY ~= 1 and not is_count(ARGV[i]) then
    return { 'err', 'number', i, ARGV[i] }
  end
end
for i = 2, 4 do
  if not is_serial(ARGV[i]) then
    return { 'err', 'number', i, ARGV[i] }
  end
end

local floor, min, max = math.floor, math.min, math.max
local id, incarnation, seq, acked = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local is_leaving, cluster_max = ARGV[5] == '1', tonumber(ARGV[6])

local root = KEYS[1] .. ':conn'
local totals, heard = root .. ':apps', root .. ':heard'

-- Never the moment that says a life is over.
local now = max(clock(), 1)

local function node_key(node)
  return root .. ':node:' .. node
end

local function held_key(life)
  return root .. ':held:' .. life
end

local function text(number)
  return string.format('%.0f', number)
end

-- Whether a number of twenty digits, which need not fit into a double, is less than another.
local function is_less(a, b)
  local x, y = tonumber(a:sub(1, 10)), tonumber(b:sub(1, 10))
  if x == y then
    x, y = tonumber(a:sub(11)), tonumber(b:sub(11))
  end
  return x < y
end

local node = redis.call('HMGET', node_key(id), 'incarnation', 'seq')
local known_life, known_seq = node[1], node[2]

-- What was answered to the very same call, or the error if it comes too late; nil if it is new.
local function answered()
  if not known_life then
    return is_leaving and { 'err', 'stale' } or nil
  end
  if is_less(incarnation, known_life) then
    return { 'err', 'fenced' }
  end
  if known_life ~= incarnation or is_less(known_seq, seq) then
    return nil
  end
  if known_seq ~= seq then
    return { 'err', 'stale' }
  end
  return { 'ok', redis.call('HGET', node_key(id), 'reply') }
end

local before_now = answered()
if before_now then
  return before_now
end

local life = incarnation .. ':' .. id
local cluster = redis.call('HMGET', root, 'total', 'learning_until')
local total, learning_until = tonumber(cluster[1] or 0), tonumber(cluster[2] or 0)

local function is_learning()
  return now < learning_until and learning_until - now <= LEARNING
end

-- Whether the ledger may not know all that the node holds: since it lost its memory, or has freed some of it while the
-- node was silent.
local function notice_loss()
  local is_known = known_life == incarnation
  if is_less(is_known and known_seq or string.rep('0', 20), acked) then
    if not is_learning() then
      learning_until = now + LEARNING
    end
    return true
  end
  return is_known and now - tonumber(redis.call('ZSCORE', heard, life) or 0) >= SLOT_TTL
end

local is_partial = notice_loss()

-- How many slots the caller has for an application.
local function slots_of(app)
  return tonumber(redis.call('ZSCORE', held_key(life), app) or 0)
end

-- Moves the totals of an application and of the cluster.
local function move(app, by)
  total = max(total + by, 0)
  if redis.call('HINCRBY', totals, app, text(by)) <= 0 then
    redis.call('HDEL', totals, app)
  end
end

-- Sets what the caller has for an application.
local function book(app, from, to)
  if to == from then
    return
  end
  if to > 0 then
    redis.call('ZADD', held_key(life), text(to), app)
  else
    redis.call('ZREM', held_key(life), app)
  end
  move(app, to - from)
end

-- Frees the slots of lives that are over or have been silent for too long, a bounded number in each call.
local function expire()
  local budget = CHORES
  while budget > 0 do
    local gone = redis.call('ZRANGEBYSCORE', heard, '-inf', text(max(now - SLOT_TTL, 0)), 'LIMIT', 0, 1)[1]
    if not gone then
      return
    end
    local slots = redis.call('ZRANGE', held_key(gone), 0, budget - 1, 'WITHSCORES')
    for i = 1, #slots, 2 do
      redis.call('ZREM', held_key(gone), slots[i])
      move(slots[i], -tonumber(slots[i + 1]))
    end
    if #slots / 2 < budget then
      redis.call('ZREM', heard, gone)
      local its_incarnation, its_node = gone:match('^(%d+):(.+)$')
      if redis.call('HGET', node_key(its_node), 'incarnation') == its_incarnation then
        redis.call('DEL', node_key(its_node))
      end
    end
    budget = budget - #slots / 2 - 1
  end
end

-- How many slots an application that has so many out gets of those it needs, and what was in the way of the rest.
local function allot(out, limit, burst, needed)
  local cluster_room = max(cluster_max - total, 0)
  local promised = min(needed, max(limit - out, 0), cluster_room)
  local line = floor(cluster_max * LINE / ONE)
  local burst_room = min(max(burst - out - promised, 0), max(line - total - promised, 0))
  local granted = promised + min(needed - promised, burst_room)
  if granted == needed then
    return granted, nil
  end
  return granted, granted < cluster_room and 'app' or 'cluster'
end

-- Gives the caller what it needs, and what is welcome ahead of that; returns what was in the way.
local function serve(app, need, want, limit, burst)
  local slots = slots_of(app)
  local needed = max(need - slots, 0)
  if is_learning() then
    return needed > 0 and 'learning' or nil
  end
  local out = tonumber(redis.call('HGET', totals, app) or 0)
  local granted, shortage = allot(out, limit, burst, needed)
  if not shortage then
    local room = min(max(limit - out - granted, 0), max(cluster_max - total - granted, 0))
    granted = granted + min(max(want - slots - granted, 0), floor(room / AHEAD))
  end
  book(app, slots, slots + granted)
  return shortage
end

if known_life and known_life ~= incarnation then
  redis.call('ZADD', heard, 0, known_life .. ':' .. id)
end
redis.call('ZADD', heard, text(is_leaving and 0 or now), life)
redis.call('HSET', node_key(id), 'incarnation', incarnation, 'seq', seq)
for i = HEAD + 1, #ARGV, ENTRY do
  book(ARGV[i], slots_of(ARGV[i]), tonumber(ARGV[i + 1]))
end
expire()

local shortages = {}
if not is_leaving then
  for i = HEAD + 1, #ARGV, ENTRY do
    shortages[i] = serve(ARGV[i], tonumber(ARGV[i + 2]), tonumber(ARGV[i + 3]), tonumber(ARGV[i + 4]), tonumber(ARGV[i + 5]))
  end
end

local reply = { text(SLOT_TTL), text(total), is_partial and '1' or '0' }
for i = HEAD + 1, #ARGV, ENTRY do
  reply[#reply + 1] = text(slots_of(ARGV[i]))
  reply[#reply + 1] = redis.call('HGET', totals, ARGV[i]) or '0'
  reply[#reply + 1] = shortages[i] or '-'
end
reply = table.concat(reply, ' ')

redis.call('HSET', root, 'total', text(total), 'learning_until', text(learning_until))
if redis.call('EXISTS', node_key(id)) == 1 then
  redis.call('HSET', node_key(id), 'reply', reply)
end
return { 'ok', reply }
