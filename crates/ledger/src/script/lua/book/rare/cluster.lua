-- L1: a new cluster, overload, emergencies, and what is due.
local RECOVERY_PER_SECOND = 2000
local EMERGENCY_DURATION = 300000
local EMERGENCY_HYSTERESIS = 1000
local EMERGENCY_QUIET = 60000
local PROMISABLE = 9000
local CHORES = 64
-- What a cluster may have open that was written down before connections were part of it.
local CONNECTIONS = 5000
local EMERGENCY_RATIOS = { [0] = 10000, 5000, 1000, 0 }

-- What the cluster can stand, in the order in which it is told. Its connections are a field of their own, :connections,
-- and not in the record, since no call about tokens needs them.
function cluster.capacity()
  return {
    l1.rate, l1.reserved, l1.burst_ratio, l1.emergency_threshold,
    tonumber(redis.call('HGET', root, ':connections') or CONNECTIONS),
  }
end

function cluster.set_capacity(capacity)
  l1.rate, l1.reserved, l1.burst_ratio = capacity.rate, capacity.reserved, capacity.burst_ratio
  l1.emergency_threshold = capacity.emergency_threshold
  redis.call('HSET', root, ':connections', text(capacity.connections))
end

function cluster.new(capacity, promised, version)
  l1 = {
    -- No epoch of an earlier life of this ledger, even if nobody remembers it.
    version = version, epoch = max(version, now), slack = 0, refilled_at = now,
    usage_second = 0, usage_spent = 0, usage_before = 0, cut = 0, cut_since = 0,
    emergency = OFF, emergency_since = 0, emergency_until = 0,
    contest_second = 0, contest_weights = 0, contest_before = 0,
    harvested_at = now, due = NEVER, history_from = version, history_turns = 0, losses = 0,
  }
  cluster.set_capacity(capacity)
  cluster.promise(promised)
  l1.slack = l1.ceiling
end

-- The capacity in the arguments.
function cluster.read_capacity()
  return {
    rate = tonumber(ARGV[1]), reserved = tonumber(ARGV[2]), burst_ratio = tonumber(ARGV[3]),
    emergency_threshold = tonumber(ARGV[4]), connections = tonumber(ARGV[5]),
  }
end

-- Whether it is one.
function cluster.is_valid(capacity)
  return is_whole(capacity.rate, 0, RATE_MAX) and is_whole(capacity.reserved, 0, ONE)
    and is_whole(capacity.burst_ratio, 0, RATIO_MAX) and is_whole(capacity.emergency_threshold, 0, RATIO_MAX)
    and is_whole(capacity.connections, 0, COUNT_MAX)
end

-- The most that guarantees may add up to.
function cluster.promisable(capacity)
  return scaled(capacity.rate, PROMISABLE)
end

function cluster.depth()
  return share(l1.burst_ratio, per_second(l1.rate))
end

-- Sets what is promised: full meters leave less or more room for slack now.
function cluster.promise(promised)
  l1.promised = promised
  l1.ceiling = minus(cluster.depth(), per_second(promised))
  l1.slack = min(l1.slack, l1.ceiling)
end

function cluster.reserve()
  return share(l1.reserved, per_second(l1.rate))
end

-- What bursts and loans may use: all but the reserve.
function cluster.spendable()
  return minus(l1.slack, cluster.reserve())
end

-- The share of the capacity that was spent over the last second.
function cluster.usage()
  local second, spent, before = l1.usage_second, l1.usage_spent, l1.usage_before
  local this = (now - now % 1000) / 1000
  if this ~= second and this + 1 ~= second then
    before = this == second + 1 and spent or 0
    spent, second = 0, this
  end
  local still = min(minus((second + 1) * 1000, now), 1000)
  return ratio_of(plus(spent, proportion(before, still, 1000)), l1.rate * 1000)
end

-- The share of an application's guarantee that is in force.
function cluster.in_force(app)
  if l1.emergency == OFF then
    return app.guaranteed
  end
  return scaled(app.guaranteed, EMERGENCY_RATIOS[app.priority])
end

-- Something happens no later than at that moment.
function cluster.expect(moment)
  l1.due = min(l1.due, moment)
end

-- Something of that epoch was lost: everybody starts from nothing.
function cluster.start_over(epoch)
  l1.epoch, l1.version, l1.losses = max(l1.epoch, epoch) + 1, l1.version + 1, l1.losses + 1
  l1.slack, l1.refilled_at = 0, now
  history.start_over()
end

-- The cut deepens at once and is lifted gradually.
local function follow_overload(used)
  local target = min(ratio_of(minus(used, OVERLOAD_STARTS_AT), ONE - OVERLOAD_STARTS_AT), ONE)
  if target >= l1.cut then
    -- Nothing cut and nothing to cut: since when does not matter.
    if target > 0 then
      l1.cut, l1.cut_since = target, now
    end
    return
  end
  local lifted = min(apply(RECOVERY_PER_SECOND, minus(now, l1.cut_since) * 10), RATIO_MAX)
  if lifted > 0 or now < l1.cut_since then
    l1.cut, l1.cut_since = max(minus(l1.cut, lifted), target), now
  end
end

local function set_emergency(state, since, to)
  l1.emergency, l1.emergency_since, l1.emergency_until = state, since, to
end

local function follow_emergency(used)
  if l1.emergency == OFF then
    if used > l1.emergency_threshold and now >= l1.emergency_until then
      set_emergency(BY_USAGE, now, now + EMERGENCY_DURATION)
      l1.version = l1.version + 1
    end
    return
  end
  local recovered = l1.emergency == BY_USAGE and used <= minus(l1.emergency_threshold, EMERGENCY_HYSTERESIS)
  if now >= l1.emergency_until or recovered then
    set_emergency(OFF, 0, 0)
    l1.version = l1.version + 1
  end
end

-- Overload and emergency follow the use.
function cluster.follow()
  local used = cluster.usage()
  follow_overload(used)
  follow_emergency(used)
end

-- An operator declares an emergency, or gives it a new end.
function cluster.declare_emergency(reason, duration)
  redis.call('HSET', root, ':reason', reason)
  set_emergency(BY_OPERATOR, l1.emergency == OFF and now or l1.emergency_since, now + duration)
end

-- An operator ends the emergency; returns whether there was one.
function cluster.end_emergency()
  local was_on = l1.emergency ~= OFF
  set_emergency(OFF, 0, now + EMERGENCY_QUIET)
  return was_on
end

-- Does a bounded part of what is due, and finds out when to look again.
function book.do_what_is_due()
  policy.apply_due()
  nodes.expire()
  reservations.expire()
  l1.due = min(min(nodes.next_due(), policy.next_due()), reservations.next_due())
end

-- Lets the meters of a few applications that nobody asks for spill, in turn.
function book.harvest()
  l1.harvested_at = now
  local cursor = redis.call('HGET', root, ':cursor') or ''
  local turn = redis.call('ZRANGEBYLEX', app_index, cursor == '' and '-' or '(' .. cursor, '+', 'LIMIT', 0, CHORES)
  apps.load(turn)
  for _, id in ipairs(turn) do
    apps.refill(apps.find(id))
  end
  local next = #turn < CHORES and '' or turn[#turn]
  if next ~= cursor then
    redis.call('HSET', root, ':cursor', next)
  end
end

