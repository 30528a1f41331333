-- The one call of a node: report what was spent, give back what is not needed, get what is.
--
-- ARGV: node incarnation seq acked, then for each application: app spent requests returned holding need want fallback.
-- incarnation, seq and acked are texts of twenty digits. The reply is one text, which is kept with the node in case it
-- gets lost: 'now epoch version lease_ttl emergency since until cut', then for each application
-- ' granted remaining wait policy_version refusal', where wait is -1 for never and refusal is - for none.
local SYNC_HEAD, SYNC_ENTRY = 4, 8

local sync = {}

-- The arguments as a call; nil if their number is wrong.
function sync.read()
  if #ARGV < SYNC_HEAD or (#ARGV - SYNC_HEAD) % SYNC_ENTRY ~= 0 then
    return nil
  end
  local call = { node = ARGV[1], incarnation = ARGV[2], seq = ARGV[3], acked = ARGV[4], entries = {}, apps = {} }
  for i = SYNC_HEAD + 1, #ARGV, SYNC_ENTRY do
    call.apps[#call.apps + 1] = ARGV[i]
    call.entries[#call.entries + 1] = {
      app = ARGV[i], spent = tonumber(ARGV[i + 1]), requests = tonumber(ARGV[i + 2]),
      returned = tonumber(ARGV[i + 3]), holding = tonumber(ARGV[i + 4]), need = tonumber(ARGV[i + 5]),
      want = tonumber(ARGV[i + 6]), fallback = tonumber(ARGV[i + 7]),
    }
  end
  return call
end

-- What was answered to the very same call, or the error if it comes too late; nil if it is new.
local function answered(call, node)
  if not node or is_less(node.incarnation, call.incarnation) then
    return nil
  end
  if call.incarnation ~= node.incarnation then
    return book.err('fenced')
  end
  if is_less(node.seq, call.seq) then
    return nil
  end
  if call.seq ~= node.seq then
    return book.err('stale')
  end
  return book.ok(redis.call('HGET', node.key, 'reply'))
end

-- A node that had an answer the ledger knows nothing of: writes were lost, in a failover say. What they granted is
-- not known any more, so everybody starts from nothing, and nodes present what they hold.
local function notice_loss(call, node)
  local known = node and node.incarnation == call.incarnation and node.seq or NO_CALL
  if is_less(known, call.acked) then
    l1.epoch = l1.epoch + 1
    l1.version = l1.version + 1
    history.start_over()
    l1.slack, l1.refilled_at = 0, now
  end
end

local function admit(call, node)
  if node and is_less(node.incarnation, call.incarnation) then
    nodes.bury(node)
    node = false
  end
  node = node or nodes.open(call.node, call.incarnation)
  nodes.hear(node)
  return node
end

-- Books what was spent and what comes back; returns what is left in the lease.
local function settle(node, app, entry)
  local lease = nodes.lease(node, app)
  local leased = lease and lease.amount or 0
  local spent = min(entry.spent, leased)
  apps.spend(app, spent, entry.requests)
  apps.spend_unleased(app, minus(entry.spent, spent))

  local returned = min(entry.returned, minus(leased, spent))
  apps.take_back(app, returned)

  local left = minus(minus(leased, spent), returned)
  if entry.holding < left then
    -- The node lost some: nobody will spend them any more.
    apps.write_off(app, minus(left, entry.holding))
    return entry.holding
  end
  return plus(left, apps.adopt(app, minus(entry.holding, left)))
end

local function granted(grant, remaining, wait, version, refusal)
  return { granted = grant, text = table.concat({
    text(grant), text(remaining), wait and text(wait) or '-1', text(version), refusal or '-',
  }, ' ') }
end

local function lease_out(app, entry)
  if app.enabled == 0 then
    return granted(0, app.rights, nil, app.version, 'app_disabled')
  end
  local grant = grants.draw(app, entry.need, max(entry.want, entry.need))
  grants.hand_out(app, grant)
  return granted(grant.total, app.rights, grant.wait, app.version, grant.refusal)
end

local function serve(node, entry)
  local app = book.bring_up(entry.app)
  if not app then
    return granted(0, 0, nil, 0, 'unknown_app').text
  end
  local left = settle(node, app, entry)
  local answer = lease_out(app, entry)
  nodes.set_lease(node, app, plus(left, answer.granted), entry.fallback)
  return answer.text
end

-- Answers a node. The same call again gets the same answer again, and changes nothing.
function sync.answer(call)
  local node = nodes.find(call.node, call.apps)
  local before_now = answered(call, node)
  if before_now then
    return before_now
  end
  book.advance()
  notice_loss(call, node)
  node = admit(call, node)
  local answers = {}
  for i, entry in ipairs(call.entries) do
    answers[i] = serve(node, entry)
  end
  local head = {
    text(now), text(l1.epoch), text(l1.version), text(LEASE_TTL),
    text(l1.emergency), text(l1.emergency_since), text(l1.emergency_until), text(l1.cut),
  }
  table.insert(answers, 1, table.concat(head, ' '))
  node.seq, node.reply = call.seq, table.concat(answers, ' ')
  return book.ok(node.reply)
end

