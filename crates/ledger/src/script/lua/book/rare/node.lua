-- Nodes that are new, fall silent, return or are gone.
--
-- <root>:silent has those that fell silent and still have leases to be written off, <root>:quiet those that have none any
-- more, and <root>:left those that said goodbye, by when they were heard of.
local SUSPECT_LIMIT = 60000

-- A node that fell silent or said goodbye is remembered for so long.
local NODE_TTL = 86400000

local silent, quiet, left = root .. ':silent', root .. ':quiet', root .. ':left'

local function key_of(id)
  return root .. ':node:' .. id
end

-- A node that has not been heard of before.
function nodes.open(id, incarnation_high, incarnation_low)
  local node = {
    id = id, key = key_of(id), leases = {}, is_complete = true, seen_at = now, epoch = l1.epoch, silent = 0,
    incarnation_high = incarnation_high, incarnation_low = incarnation_low, seq_high = 0, seq_low = 0,
  }
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
    local field = all[i]
    if field:sub(1, 1) ~= ':' and not node.leases[field] then
      node.leases[field] = nodes.unpack_lease(all[i + 1])
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

-- One node less is suspected of letting requests of an application through.
local function clear(id, lease)
  apps.bring_up(id)
  local app = lessor(id, lease)
  if app then
    app.suspect_rate = minus(app.suspect_rate, lease.fallback)
  end
end

-- Writes a lease off, and suspects the node of going on without it.
local function expire_lease(node, id)
  local lease = node.leases[id]
  local amount = lease.amount
  lease.amount, lease.suspect = 0, 1
  apps.bring_up(id)
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
    if node.leases[id].suspect == 0 then
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
  for _, id in ipairs(ids) do
    local node = nodes.find(id, {})
    if node then
      node.silent = 1
    end
  end
end

-- Writes off the leases of nodes that fell silent.
local function expire_leases()
  local budget = CHORES
  while budget > 0 do
    local id = redis.call('LINDEX', silent, 0)
    if not id then
      return
    end
    local node = nodes.find(id, {})
    local ids = live(node)
    local turn = min(#ids, budget)
    for i = 1, turn do
      expire_lease(node, ids[i])
    end
    if turn < budget then
      redis.call('LPOP', silent)
      redis.call('ZADD', quiet, node and node.seen_at or 0, id)
    end
    budget = budget - turn
  end
end

-- Forgets nodes that have been gone for far too long.
local function forget(gone)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', gone, '-inf', now - NODE_TTL, 'LIMIT', 0, CHORES)) do
    nodes.loaded[id] = false
    redis.call('ZREM', gone, id)
    redis.call('DEL', key_of(id))
  end
end

-- Does what is due about nodes, a bounded part of it in each call.
function nodes.expire()
  fall_silent()
  expire_leases()
  forget(quiet)
  forget(left)
end

local function earliest(key, span)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) + span or NEVER
end

-- When the next node may fall silent or be forgotten.
function nodes.next_due()
  if redis.call('LLEN', silent) > 0 then
    return 0
  end
  return min(earliest(heard, LEASE_TTL), min(earliest(quiet, NODE_TTL), earliest(left, NODE_TTL)))
end

-- How many nodes fell silent and are remembered.
function nodes.count_silent()
  return redis.call('LLEN', silent) + redis.call('ZCARD', quiet)
end

local function void_leases(node)
  redis.call('DEL', node.key)
  node.leases, node.is_complete = {}, true
end

-- Takes a node off the lists of those that are silent or gone.
local function strike(node)
  if node.silent == 1 then
    redis.call('LREM', silent, 0, node.id)
    redis.call('ZREM', quiet, node.id)
    redis.call('ZREM', left, node.id)
  end
end

local function break_silence(node)
  strike(node)
  for _, id in ipairs(leased_apps(node)) do
    local lease = node.leases[id]
    if lease.suspect == 1 then
      lease.suspect = 0
      clear(id, lease)
    end
  end
  node.silent = 0
end

-- A node speaks that was silent, or that does not know yet that something was lost.
function nodes.return_from_silence(node)
  if node.epoch ~= l1.epoch then
    node.epoch = l1.epoch
    void_leases(node)
  end
  if node.silent == 1 then
    break_silence(node)
  end
end

local function write_off(node, ids)
  for _, id in ipairs(ids) do
    local lease = node.leases[id]
    if lease.suspect == 1 then
      clear(id, lease)
    else
      -- While it was out it was room that nothing could be minted into.
      apps.bring_up(id)
      local app = lessor(id, lease)
      if app then
        apps.write_off(app, lease.amount)
      end
    end
  end
end

-- A node said goodbye: what it has not given back is written off. Its last call is remembered, as an earlier one may still
-- be on its way.
function nodes.retire(node)
  local ids = leased_apps(node)
  redis.call('ZREM', heard, node.id)
  redis.call('DEL', node.key)
  redis.call('ZADD', left, node.seen_at, node.id)
  write_off(node, ids)
  node.leases, node.reply, node.record, node.silent = {}, nil, nil, 1
  cluster.expect(node.seen_at + NODE_TTL)
end

-- Forgets a node: what it still had in leases is written off.
function nodes.bury(node)
  local ids = leased_apps(node)
  nodes.loaded[node.id] = false
  redis.call('ZREM', heard, node.id)
  strike(node)
  redis.call('DEL', node.key)
  if node.epoch == l1.epoch then
    write_off(node, ids)
  end
end

-- What all leases add up to, for each application.
function nodes.leased()
  local sums = {}
  local ids = redis.call('ZRANGE', heard, 0, -1)
  for _, id in ipairs(redis.call('LRANGE', silent, 0, -1)) do
    ids[#ids + 1] = id
  end
  for _, id in ipairs(ids) do
    local node = nodes.find(id, {})
    for _, app_id in ipairs(live(node)) do
      local lease = node.leases[app_id]
      if lessor(app_id, lease) then
        sums[app_id] = plus(sums[app_id] or 0, lease.amount)
      end
    end
  end
  return sums
end

