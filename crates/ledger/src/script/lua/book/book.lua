-- The book as a whole: bringing it up to now, answering, and writing down what changed.
--
-- Results are {'ok', ...} or {'err', code, ...}. Whatever an operation answers, what it did on the way to it stays.
local HARVEST_INTERVAL = 1000

local book = {}

function book.ok(...)
  return { 'ok', ... }
end

function book.err(...)
  return { 'err', ... }
end

-- Not enough tokens, why, and how long until there are.
function book.refused(reason, wait, available)
  return book.err('refused', reason, wait or -1, available)
end

-- What stands in the way of an operation on a known cluster with that many arguments; nil if nothing does.
function book.check(arity)
  if #KEYS ~= 1 or #ARGV ~= arity then
    return book.err('arity', #KEYS, #ARGV, arity)
  end
  if not l1 then
    return book.err('unseeded')
  end
end

-- Lets the meters of a few applications that nobody asks for spill, in turn.
local function harvest()
  if now >= l1.harvested_at and now - l1.harvested_at < HARVEST_INTERVAL then
    return
  end
  l1.harvested_at = now
  local from = l1.harvest_cursor == '' and '-' or '(' .. l1.harvest_cursor
  local turn = redis.call('ZRANGEBYLEX', app_index, from, '+', 'LIMIT', 0, CHORES)
  for _, id in ipairs(turn) do
    apps.refill(apps.find(id))
  end
  l1.harvest_cursor = #turn < CHORES and '' or turn[#turn]
end

-- Brings the cluster up to now: slack, overload, emergency, and a bounded part of the chores.
function book.advance()
  cluster.refill()
  cluster.follow()
  if now >= l1.due then
    policy.apply_due()
    nodes.expire()
    reservations.expire()
    l1.due = min(nodes.next_due(), policy.next_due(), reservations.next_due())
  end
  harvest()
end

-- The application of that name brought up to now, or false.
function book.bring_up(id)
  local app = apps.find(id)
  if app then
    apps.refill(app)
  end
  return app
end

-- Takes and spends all of a cost from an application brought up to now; returns the refusal if it cannot.
function book.spend_now(app, cost)
  if app.enabled == 0 then
    return book.refused('app_disabled', nil, app.rights)
  end
  local grant = grants.draw(app, cost, cost)
  if grant.refusal then
    return book.refused(grant.refusal, grant.wait, grant.available)
  end
  grants.hand_out(app, grant)
  apps.spend(app, cost, 1)
end

-- Writes down what changed, says so, and hands the result on.
function book.commit(result)
  record.save(l1, CLUSTER)
  apps.save()
  nodes.save()
  notice.publish()
  return result
end

