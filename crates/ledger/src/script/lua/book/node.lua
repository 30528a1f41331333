-- Nodes, their leases, and what becomes of them when a node falls silent.
--
-- One hash each, <root>:node:<id>, with a field l:<app> for each lease: 'amount fallback suspect since', where since is
-- that of the application. <root>:heard has the nodes that are heard of by when they were, <root>:silent those that
-- fell silent and still have leases to be written off, <root>:quiet all that fell silent within a day, by when they were
-- heard of. A node's silent is 1 from then until it speaks again.
--
-- incarnation and seq are texts of twenty digits: they need not fit into a double.
local LEASE_TTL = 5000
local SUSPECT_LIMIT = 60000
local CHORES = 64

-- A node that fell silent is remembered for a day: after that, it comes back as one that lost its memory.
local NODE_TTL = 86400000

local NODE = { 'seen_at', 'epoch', 'silent', 'incarnation', 'seq', numbers = 3, writes = { 'reply' } }

local NO_CALL = string.rep('0', 20)

local heard, silent, quiet = root .. ':heard', root .. ':silent', root .. ':quiet'

local nodes = { loaded = {} }

local function read_lease(packed)
  if not packed then
    return nil
  end
  local amount, fallback, suspect, since = packed:match('^(%d+) (%d+) (%d) (%d+)$')
  return {
    amount = tonumber(amount), fallback = tonumber(fallback), is_suspect = suspect == '1', since = tonumber(since),
    stored = packed,
  }
end

local function pack_lease(lease)
  local suspect = lease.is_suspect and 1 or 0
  return string.format('%.0f %.0f %d %.0f', lease.amount, lease.fallback, suspect, lease.since)
end

local function key_of(id)
  return root .. ':node:' .. id
end

-- The node of that name with its leases for the applications named, or false.
function nodes.find(id, wanted)
  if nodes.loaded[id] ~= nil then
    return nodes.loaded[id]
  end
  local fields = { unpack(NODE) }
  for _, app in ipairs(wanted or {}) do
    fields[#fields + 1] = 'l:' .. app
  end
  local values = in_batches('HMGET', key_of(id), fields)
  local node = record.of(key_of(id), NODE, values) or false
  if node then
    node.id, node.leases = id, {}
    for i, app in ipairs(wanted or {}) do
      node.leases[app] = read_lease(values[#NODE + i])
    end
  end
  nodes.loaded[id] = node
  return node
end

-- Loads the leases that have not been asked for yet.
local function complete(node)
  if node.is_complete then
    return
  end
  node.is_complete = true
  local all = redis.call('HGETALL', node.key)
  for i = 1, #all, 2 do
    local app = all[i]:match('^l:(.+)$')
    if app and not node.leases[app] then
      node.leases[app] = read_lease(all[i + 1])
    end
  end
end

-- The applications that a node has leases for, in order.
local function leased_apps(node)
  complete(node)
  local ids = {}
  for id in pairs(node.leases) do
    ids[#ids + 1] = id
  end
  table.sort(ids, before)
  return ids
end

-- The application that a lease is of, or false if that one is gone, even if there is another of its name.
local function lessor(id, lease)
  local app = apps.find(id)
  return app and app.since == lease.since and app
end

local function refill(id)
  local app = apps.find(id)
  if app then
    apps.refill(app)
  end
end

-- One node less is suspected of letting requests of an application through.
local function clear(id, lease)
  refill(id)
  local app = lessor(id, lease)
  if app then
    app.suspect_rate = minus(app.suspect_rate, lease.fallback)
  end
end

-- Writes a lease off, and suspects the node of going on without it.
local function expire_lease(node, id)
  local lease = node.leases[id]
  local amount = lease.amount
  lease.amount, lease.is_suspect = 0, true
  refill(id)
  local app = lessor(id, lease)
  if app then
    apps.write_off(app, amount)
    app.suspect_rate = add_rates(app.suspect_rate, lease.fallback)
    app.suspect_until = max(app.suspect_until, node.seen_at + LEASE_TTL + SUSPECT_LIMIT)
  end
end

-- The leases of a node that nobody has written off yet. Those of an earlier epoch are void.
local function live(node)
  local ids = {}
  if not node or node.epoch ~= l1.epoch then
    return ids
  end
  for _, id in ipairs(leased_apps(node)) do
    if not node.leases[id].is_suspect then
      ids[#ids + 1] = id
    end
  end
  return ids
end

local function fall_silent()
  local ids = redis.call('ZRANGEBYSCORE', heard, '-inf', now - LEASE_TTL, 'LIMIT', 0, CHORES)
  if #ids == 0 then
    return
  end
  redis.call('ZREM', heard, unpack(ids))
  redis.call('RPUSH', silent, unpack(ids))
  redis.call('ZREMRANGEBYSCORE', quiet, '-inf', now - NODE_TTL)
  for _, id in ipairs(ids) do
    local node = nodes.find(id)
    if node then
      node.silent = 1
      redis.call('ZADD', quiet, node.seen_at, id)
    end
  end
end

-- Writes off the leases of nodes that have been silent for too long, a bounded number in each call.
function nodes.expire()
  fall_silent()
  local budget = CHORES
  while budget > 0 do
    local id = redis.call('LINDEX', silent, 0)
    if not id then
      return
    end
    local node = nodes.find(id)
    local ids = live(node)
    local turn = min(#ids, budget)
    for i = 1, turn do
      expire_lease(node, ids[i])
    end
    if turn < budget then
      redis.call('LPOP', silent)
      redis.call('PEXPIRE', key_of(id), NODE_TTL)
    end
    budget = budget - turn
  end
end

-- When the next node may fall silent.
function nodes.next_due()
  if redis.call('LLEN', silent) > 0 then
    return 0
  end
  local first = redis.call('ZRANGE', heard, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) + LEASE_TTL or NEVER
end

-- How many nodes fell silent within a day.
function nodes.count_silent()
  return redis.call('ZCOUNT', quiet, '(' .. text(now - NODE_TTL), '+inf')
end

-- A node that has not been heard of before.
function nodes.open(id, incarnation)
  local node = record.new(key_of(id), {
    id = id, seen_at = now, epoch = l1.epoch, silent = 0, incarnation = incarnation, seq = NO_CALL,
    leases = {}, is_complete = true,
  })
  nodes.loaded[id] = node
  return node
end

local function break_silence(node)
  redis.call('LREM', silent, 0, node.id)
  redis.call('ZREM', quiet, node.id)
  redis.call('PERSIST', node.key)
  for _, id in ipairs(leased_apps(node)) do
    local lease = node.leases[id]
    if lease.is_suspect then
      lease.is_suspect = false
      clear(id, lease)
    end
  end
  node.silent = 0
end

local function void_leases(node)
  redis.call('DEL', node.key)
  node.stored, node.leases, node.is_complete = {}, {}, true
end

-- A node speaks: it is heard of now, and not suspected of anything any more.
function nodes.hear(node)
  redis.call('ZADD', heard, now, node.id)
  cluster.expect(now + LEASE_TTL)
  node.seen_at = now
  if node.epoch ~= l1.epoch then
    node.epoch = l1.epoch
    void_leases(node)
  end
  if node.silent == 1 then
    break_silence(node)
  end
end

-- Forgets a node: what it still had in leases is written off.
function nodes.bury(node)
  local ids = leased_apps(node)
  nodes.loaded[node.id] = false
  redis.call('DEL', node.key)
  redis.call('ZREM', heard, node.id)
  if node.silent == 1 then
    redis.call('LREM', silent, 0, node.id)
    redis.call('ZREM', quiet, node.id)
  end
  if node.epoch ~= l1.epoch then
    return
  end
  for _, id in ipairs(ids) do
    local lease = node.leases[id]
    local app = lessor(id, lease)
    if lease.is_suspect then
      clear(id, lease)
    elseif app then
      apps.write_off(app, lease.amount)
    end
  end
end

-- What a node has for an application; nil if nothing, or if it is of a namesake that is gone.
function nodes.lease(node, app)
  local lease = node.leases[app.id]
  return lease and lease.since == app.since and lease or nil
end

-- Sets what a node has for an application.
function nodes.set_lease(node, app, amount, fallback)
  local lease = node.leases[app.id] or {}
  lease.amount, lease.fallback, lease.is_suspect, lease.since = amount, fallback, false, app.since
  node.leases[app.id] = lease
end

-- What all leases add up to, for each application.
function nodes.leased()
  local sums = {}
  local ids = redis.call('ZRANGE', heard, 0, -1)
  for _, id in ipairs(redis.call('LRANGE', silent, 0, -1)) do
    ids[#ids + 1] = id
  end
  for _, id in ipairs(ids) do
    local node = nodes.find(id)
    for _, app_id in ipairs(live(node)) do
      local lease = node.leases[app_id]
      if lessor(app_id, lease) then
        sums[app_id] = plus(sums[app_id] or 0, lease.amount)
      end
    end
  end
  return sums
end

function nodes.save()
  for _, node in pairs(nodes.loaded) do
    if node then
      local changes = record.changes(node, NODE)
      for id, lease in pairs(node.leases) do
        local packed = pack_lease(lease)
        if packed ~= lease.stored then
          lease.stored = packed
          changes[#changes + 1] = 'l:' .. id
          changes[#changes + 1] = packed
        end
      end
      in_batches('HSET', node.key, changes)
    end
  end
end

