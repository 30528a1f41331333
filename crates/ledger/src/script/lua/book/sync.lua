-- The one call of a node: report what was spent, give back what is not needed, get what is.
--
-- ARGV: node head, then for each application: app entry. Head and entry are rows of doubles: the upper and lower halves of
-- incarnation, seq and acked, the epoch of the last answer and the silence after which it is missed; and spent, requests, returned, holding, need, want, fallback, then operation, requests and cost
-- for each operation that is reported. The reply is one row of doubles, which is kept with the node in case it gets lost:
-- now, epoch, version, lease_ttl, emergency, since, until, cut, then for each application granted, remaining, wait,
-- policy_version, refusal, where wait is -1 for never and refusal is a number, 0 for none.
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

-- What is wrong with the rows of a call, before anything is done with them; nil if nothing is.
function sync.complaint()
  for i = 2, #ARGV, 2 do
    local least = i == 2 and HEAD_BYTES or ENTRY_BYTES
    local more = #ARGV[i] - least
    if more < 0 or more % OPERATION_BYTES ~= 0 or not is_given(ARGV[i], 1) then
      return { 'err', 'invalid' }
    end
  end
end

-- Books what a node reports of a lease that does not add up, or of which it gives something back; returns what is left.
local function settle(app, leased, spent, requests, returned, holding)
  rare()
  local from_lease = min(spent, leased)
  cluster.use(from_lease)
  apps.spend(app, from_lease, requests)
  apps.spend_unleased(app, spent - from_lease)
  local left = leased - from_lease
  returned = min(returned, left)
  apps.take_back(app, returned)
  return apps.settle_difference(app, left - returned, holding)
end

-- Serves one application of a call; returns its part of the reply.
local function serve(node, id, entry)
  local app = apps.find(id)
  if not app then
    return struct.pack(GRANTED_FORMAT, 0, 0, -1, 0, UNKNOWN_APP)
  end
  apps.refill(app)
  local spent, requests, returned, holding, need, want, fallback = struct.unpack(ENTRY_FORMAT, entry)
  local lease = node.leases[id]
  if not lease then
    lease = { amount = 0, since = app.since }
    node.leases[id] = lease
  end
  local left = lease.since == app.since and lease.amount or 0
  if returned == 0 and spent + holding == left then
    app.outstanding = minus(app.outstanding, spent)
    apps.count(app, spent, requests)
    cluster.use(spent)
    left = holding
  else
    left = settle(app, left, spent, requests, returned, holding)
  end
  want = max(want, need)
  local granted, wait, refusal = want, 0, 0
  if app.enabled == 0 then
    granted, wait, refusal = 0, -1, APP_DISABLED
  elseif want <= app.rights and want <= app.meter then
    app.rights, app.meter = app.rights - want, app.meter - want
    app.outstanding = plus(app.outstanding, want)
  else
    rare()
    local grant = grants.draw(app, need, want)
    grants.hand_out(app, grant)
    granted, wait, refusal = grant.total, grant.wait, grant.refusal
  end
  lease.amount, lease.fallback, lease.suspect, lease.since = plus(left, granted), fallback, 0, app.since
  return struct.pack(GRANTED_FORMAT, granted, app.rights, wait, app.version, refusal)
end

-- Whether a call is the next one of a node that is known, and says nothing of a call that is not.
local function is_next(node, incarnation_high, incarnation_low, seq_high, seq_low, acked_high, acked_low)
  return node and node.incarnation_high == incarnation_high and node.incarnation_low == incarnation_low
    and node.seq_high == seq_high and node.seq_low < seq_low
    and node.seq_high == acked_high and node.seq_low >= acked_low
end

-- Answers a node; returns the node too if anything changed. The same call again gets the same answer again, and
-- changes nothing.
function sync.answer(fields)
  local id, head = ARGV[1], ARGV[2]
  local node = nodes.find(id, fields)
  local is_usual = is_next(node, struct.unpack(HEAD_FORMAT, head))
  if not is_usual then
    rare()
    local before_now = calls.answered(head, node)
    if before_now then
      return before_now
    end
  end
  book.advance()
  if not is_usual or not nodes.loaded[id] then
    -- It may have been forgotten just now.
    rare()
    node = calls.admit(id, head, nodes.loaded[id])
  end
  nodes.hear(node, select(8, struct.unpack(HEAD_FORMAT, head)))
  local parts = { '' }
  for i = 2, #fields do
    parts[i] = serve(node, fields[i], ARGV[2 * i])
  end
  count_operations(fields, apps.loaded)
  parts[1] = struct.pack(REPLY_FORMAT, now, l1.epoch, l1.version, LEASE_TTL,
    l1.emergency, l1.emergency_since, l1.emergency_until, l1.cut)
  node.reply = table.concat(parts)
  local _, _, seq_high, seq_low = struct.unpack(HEAD_FORMAT, head)
  node.seq_high, node.seq_low = seq_high, seq_low
  return { 'ok', node.reply }, node
end

