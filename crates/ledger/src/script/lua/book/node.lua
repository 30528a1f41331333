-- Nodes and their leases. One hash each, <root>:node:<id>, with fields
--   :node    a row of doubles: seen_at, epoch, silent, incarnation and seq, each of these as its upper and its lower half
--   :reply   what was answered to seq, in case the answer got lost
--   <app>    a row of doubles for each lease: amount, fallback, suspect, since, which is that of the application
-- <root>:heard has the nodes that are heard of by when they are to be missed. silent is 1 from when a node is missed until
-- it speaks again.
local heard = root .. ':heard'

local nodes = { loaded = {} }

-- A lease as it is stored, or nil.
function nodes.unpack_lease(record)
  if record then
    local amount, fallback, suspect, since = struct.unpack(LEASE_FORMAT, record)
    return { amount = amount, fallback = fallback, suspect = suspect, since = since, record = record }
  end
end

local function unpack_node(id, record)
  local seen_at, epoch, silent, incarnation_high, incarnation_low, seq_high, seq_low
    = struct.unpack(NODE_FORMAT, record)
  return {
    id = id, key = root .. ':node:' .. id, record = record, leases = {}, seen_at = seen_at, epoch = epoch, silent = silent,
    incarnation_high = incarnation_high, incarnation_low = incarnation_low, seq_high = seq_high, seq_low = seq_low,
  }
end

-- The node of that name, or false, with its leases for the applications in the list of fields to read, but for the
-- first.
function nodes.find(id, fields)
  local node = nodes.loaded[id]
  if node == nil then
    fields[1] = ':node'
    local records = in_batches('HMGET', root .. ':node:' .. id, fields)
    node = records[1] and unpack_node(id, records[1])
    nodes.loaded[id] = node
    for i = 2, node and #fields or 0 do
      node.leases[fields[i]] = nodes.unpack_lease(records[i])
    end
  end
  return node
end

-- A node speaks: it is heard of now, not suspected of anything any more, and missed after so much silence.
function nodes.hear(node, silence)
  local missed_at = now + min(silence, LEASE_TTL)
  redis.call('ZADD', heard, missed_at, node.id)
  l1.due = min(l1.due, missed_at)
  node.seen_at = now
  if node.epoch ~= l1.epoch or node.silent == 1 then
    rare()
    nodes.return_from_silence(node)
  end
end

-- The fields of a node that changed, each with its value.
local function changes_of(node)
  local record = struct.pack(NODE_FORMAT, node.seen_at, node.epoch, node.silent,
    node.incarnation_high, node.incarnation_low, node.seq_high, node.seq_low)
  local changes = {}
  if record ~= node.record then
    changes = { ':node', record }
  end
  if node.reply then
    changes[#changes + 1] = ':reply'
    changes[#changes + 1] = node.reply
  end
  for id, lease in pairs(node.leases) do
    record = struct.pack(LEASE_FORMAT, lease.amount, lease.fallback, lease.suspect, lease.since)
    if record ~= lease.record then
      changes[#changes + 1] = id
      changes[#changes + 1] = record
    end
  end
  return changes
end

-- Writes down what changed.
function nodes.save()
  for _, node in pairs(nodes.loaded) do
    local changes = node and changes_of(node) or {}
    if #changes > 0 then
      in_batches('HSET', node.key, changes)
    end
  end
end

