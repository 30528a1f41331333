-- The one call of a node: report what was spent, give back what is not needed, get what is.
--
-- ARGV: node head, then for each application: app entry. Head and entry are rows of doubles: the upper and lower halves of
-- incarnation, seq and acked; and spent, requests, returned, holding, need, want, fallback, then operation, requests and cost
-- for each operation that is reported. The reply is one row of
-- doubles, which is kept with the node in case it gets lost: now, epoch, version, lease_ttl, emergency, since, until,
-- cut, then for each application granted, remaining, wait, policy_version, refusal, where wait is -1 for never and refusal
-- is a number, 0 for none.
local HEAD_FORMAT, ENTRY_FORMAT = '<dddddd', '<ddddddd'
local OPERATIONS_START = 57
local REPLY_FORMAT, GRANTED_FORMAT = '<dddddddd', '<ddddd'

local sync = {}

-- The fields to read for the applications of a call: theirs after one that is left to the reader. Nil if the number of
-- arguments is wrong.
function sync.fields()
  local count = #ARGV
  if count < 2 or count % 2 ~= 0 then
    return nil
  end
  local fields = { '' }
  for i = 3, count, 2 do
    fields[#fields + 1] = ARGV[i]
  end
  return fields
end

-- Whether a number is less than another, each given by its halves.
local function is_less(high, low, other_high, other_low)
  return high < other_high or high == other_high and low < other_low
end

-- The call in the arguments.
local function read()
  local incarnation_high, incarnation_low, seq_high, seq_low, acked_high, acked_low
    = struct.unpack(HEAD_FORMAT, ARGV[2])
  return {
    node = ARGV[1], incarnation_high = incarnation_high, incarnation_low = incarnation_low,
    seq_high = seq_high, seq_low = seq_low, acked_high = acked_high, acked_low = acked_low,
  }
end

-- What was answered to the very same call, or the error if it comes too late; nil if it is new.
local function answered(call, node)
  if node.incarnation_high ~= call.incarnation_high or node.incarnation_low ~= call.incarnation_low then
    if is_less(call.incarnation_high, call.incarnation_low, node.incarnation_high, node.incarnation_low) then
      return { 'err', 'fenced' }
    end
    return nil
  end
  if is_less(node.seq_high, node.seq_low, call.seq_high, call.seq_low) then
    return nil
  end
  if node.seq_high ~= call.seq_high or node.seq_low ~= call.seq_low then
    return { 'err', 'stale' }
  end
  return { 'ok', redis.call('HGET', node.key, ':reply') }
end

-- The last call of this life of a node that the ledger knows of.
local function last_known(call, node)
  if node and node.incarnation_high == call.incarnation_high and node.incarnation_low == call.incarnation_low then
    return node.seq_high, node.seq_low
  end
  return 0, 0
end

-- A node that had an answer the ledger knows nothing of: writes were lost, in a failover say. What they granted is
-- not known any more, so everybody starts from nothing, and nodes present what they hold.
local function notice_loss(call, node)
  local seq_high, seq_low = last_known(call, node)
  if is_less(seq_high, seq_low, call.acked_high, call.acked_low) then
    rare()
    cluster.start_over()
  end
end

local function admit(call, node)
  if node and is_less(node.incarnation_high, node.incarnation_low, call.incarnation_high, call.incarnation_low) then
    rare()
    nodes.bury(node)
    node = false
  end
  if not node then
    rare()
    node = nodes.open(call.node, call.incarnation_high, call.incarnation_low)
  end
  nodes.hear(node)
  return node
end

-- Books what a node reports of a lease; returns what is left in it.
local function settle(app, leased, spent, requests, returned, holding)
  local from_lease = min(spent, leased)
  apps.spend(app, from_lease, requests)
  if spent > from_lease then
    rare()
    apps.spend_unleased(app, spent - from_lease)
  end
  local left = leased - from_lease
  returned = min(returned, left)
  apps.take_back(app, returned)
  left = left - returned
  if holding == left then
    return left
  end
  rare()
  return apps.settle_difference(app, left, holding)
end

-- Serves one application of a call; returns its part of the reply.
local function serve(node, id, entry)
  local app = apps.bring_up(id)
  if not app then
    return struct.pack(GRANTED_FORMAT, 0, 0, -1, 0, UNKNOWN_APP)
  end
  local spent, requests, returned, holding, need, want, fallback = struct.unpack(ENTRY_FORMAT, entry)
  local lease = node.leases[id]
  if not lease then
    lease = { amount = 0, since = app.since }
    node.leases[id] = lease
  end
  local leased = lease.since == app.since and lease.amount or 0
  if #entry >= OPERATIONS_START then
    operations.count(id, entry, OPERATIONS_START)
  end
  local left = settle(app, leased, spent, requests, returned, holding)
  local granted, wait, refusal = 0, -1, APP_DISABLED
  if app.enabled == 1 then
    local grant = grants.draw(app, need, max(want, need))
    grants.hand_out(app, grant)
    granted, wait, refusal = grant.total, grant.wait, grant.refusal
  end
  lease.amount, lease.fallback, lease.suspect, lease.since = plus(left, granted), fallback, 0, app.since
  return struct.pack(GRANTED_FORMAT, granted, app.rights, wait, app.version, refusal)
end

-- Reads the totals of those applications that operations are reported of.
local function load_operations(fields)
  local ids = {}
  for i = 2, #fields do
    if #ARGV[2 * i] >= OPERATIONS_START then
      ids[#ids + 1] = fields[i]
    end
  end
  if #ids > 0 then
    rare()
    operations.load(ids)
  end
end

-- Whether a node that is not known any more says that it had an answer before.
function sync.is_repeated_goodbye(fields)
  local call = read()
  return (call.acked_high > 0 or call.acked_low > 0) and not nodes.find(call.node, fields)
end

-- Answers a node; returns the node too if anything changed. The same call again gets the same answer again, and
-- changes nothing.
function sync.answer(fields)
  local call = read()
  local node = nodes.find(call.node, fields)
  local before_now = node and answered(call, node)
  if before_now then
    return before_now
  end
  book.advance()
  -- It may have been forgotten just now.
  node = nodes.loaded[call.node]
  notice_loss(call, node)
  node = admit(call, node)
  load_operations(fields)
  local parts = { '' }
  for i = 2, #fields do
    parts[i] = serve(node, fields[i], ARGV[2 * i])
  end
  parts[1] = struct.pack(REPLY_FORMAT, now, l1.epoch, l1.version, LEASE_TTL,
    l1.emergency, l1.emergency_since, l1.emergency_until, l1.cut)
  node.seq_high, node.seq_low, node.reply = call.seq_high, call.seq_low, table.concat(parts)
  return { 'ok', node.reply }, node
end

