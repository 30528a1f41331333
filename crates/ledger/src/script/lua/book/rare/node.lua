-- Nodes that are new, fall silent, return or are gone.
--
-- <root>:silent has those that are missed, and whose leases are to be looked at. By when they were heard of, <root>:late has
-- those that are suspected of going on alone and whose leases last, <root>:quiet those whose leases were written off, and
-- <root>:left those that said goodbye.
local SUSPECT_LIMIT = 60000

-- A node that fell silent or said goodbye is remembered for so long.
local NODE_TTL = 86400000

local silent, late, quiet, left = root .. ':silent', root .. ':late', root .. ':quiet', root .. ':left'

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

-- Suspects a node of going on alone; once its lease is over, that is written off.
local function settle_lease(node, id, is_over)
  local lease = node.leases[id]
  local amount, was_suspect = lease.amount, lease.suspect == 1
  lease.suspect = 1
  if is_over then
    lease.amount = 0
  end
  apps.bring_up(id)
  local app = lessor(id, lease)
  if not app then
    return
  end
  if not was_suspect then
    apps.suspect(app, lease.fallback, node.seen_at + LEASE_TTL + SUSPECT_LIMIT)
  end
  if is_over then
    apps.write_off(app, amount)
  end
end

-- The leases that something is to be done about, as the node is missed: it is suspected, and once they are over they are
-- written off. Those of an earlier epoch are void.
local function unsettled(node, is_over)
  local ids = {}
  if not node or node.epoch ~= l1.epoch then
    return ids
  end
  for _, id in ipairs(leased_apps(node)) do
    local lease = node.leases[id]
    if lease.suspect == 0 or is_over and lease.amount > 0 then
      ids[#ids + 1] = id
    end
  end
  return ids
end

-- Those of a list whose moment has come are missed.
local function miss(list, moment)
  local ids = redis.call('ZRANGEBYSCORE', list, '-inf', moment, 'LIMIT', 0, CHORES)
  if #ids == 0 then
    return
  end
  redis.call('ZREM', list, unpack(ids))
  redis.call('RPUSH', silent, unpack(ids))
  for _, id in ipairs(ids) do
    local node = nodes.find(id, {})
    if node then
      node.silent = 1
    end
  end
end

-- Looks at the leases of nodes that are missed.
local function settle_leases()
  local budget = CHORES
  while budget > 0 do
    local id = redis.call('LINDEX', silent, 0)
    if not id then
      return
    end
    local node = nodes.find(id, {})
    local seen_at = node and node.seen_at or 0
    local is_over = now - seen_at >= LEASE_TTL
    local ids = unsettled(node, is_over)
    local turn = min(#ids, budget)
    for i = 1, turn do
      settle_lease(node, ids[i], is_over)
    end
    if turn < budget then
      redis.call('LPOP', silent)
      redis.call('ZADD', is_over and quiet or late, seen_at, id)
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
  miss(heard, now)
  miss(late, now - LEASE_TTL)
  settle_leases()
  forget(quiet)
  forget(left)
end

local function earliest(key, span)
  local first = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) + span or NEVER
end

-- When the next node may be missed or forgotten.
function nodes.next_due()
  if redis.call('LLEN', silent) > 0 then
    return 0
  end
  local missed = min(earliest(heard, 0), earliest(late, LEASE_TTL))
  return min(missed, min(earliest(quiet, NODE_TTL), earliest(left, NODE_TTL)))
end

-- How many nodes are heard of, or were so short a time ago that their leases last.
function nodes.count()
  return redis.call('ZCARD', heard) + redis.call('ZCARD', late)
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
    redis.call('ZREM', late, node.id)
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
    end
    -- While it was out it was room that nothing could be minted into.
    apps.bring_up(id)
    local app = lessor(id, lease)
    if app then
      apps.write_off(app, lease.amount)
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
  for _, ids in ipairs({
    redis.call('ZRANGE', heard, 0, -1), redis.call('ZRANGE', late, 0, -1), redis.call('LRANGE', silent, 0, -1),
  }) do
    for _, id in ipairs(ids) do
      local node = nodes.find(id, {})
      for _, app_id in ipairs(node and node.epoch == l1.epoch and leased_apps(node) or {}) do
        local lease = node.leases[app_id]
        if lessor(app_id, lease) then
          sums[app_id] = plus(sums[app_id] or 0, lease.amount)
        end
      end
    end
  end
  return sums
end
