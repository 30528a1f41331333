-- L1: what the cluster can stand, its slack, its use, overload and emergency. One hash, <root>:l1.
--
-- emergency is 0 (off: none starts by itself before emergency_until), 1 (declared by an operator) or 2 (by use).
-- due is a moment before which no node falls silent, no change takes effect and no reservation ends.
local MAX_ELAPSED = 3600000
local PROMISABLE = 9000
local OVERLOAD_STARTS_AT = 9000
local RECOVERY_PER_SECOND = 2000
local EMERGENCY_DURATION = 300000
local EMERGENCY_HYSTERESIS = 1000
local EMERGENCY_QUIET = 60000
local OFF, BY_OPERATOR, BY_USAGE = 0, 1, 2

local CAPACITY = { 'rate', 'reserved', 'burst_ratio', 'emergency_threshold' }

local CLUSTER = {
  'version', 'epoch', 'rate', 'reserved', 'burst_ratio', 'emergency_threshold', 'promised', 'slack', 'refilled_at',
  'usage_second', 'usage_granted', 'usage_before', 'cut', 'cut_since', 'emergency', 'emergency_since',
  'emergency_until', 'contest_second', 'contest_weights', 'contest_before', 'harvested_at', 'due',
  'history_from', 'history_turns', 'harvest_cursor',
  numbers = 24,
  writes = { 'emergency_reason' },
}

local now = clock()
local root = KEYS[1]
local l1 = record.load(root .. ':l1', CLUSTER)

local cluster = {}

function cluster.open(capacity, promised, slack, version)
  l1 = record.new(root .. ':l1', {
    version = version, epoch = version, promised = promised, slack = slack, refilled_at = now,
    rate = capacity.rate, reserved = capacity.reserved, burst_ratio = capacity.burst_ratio,
    emergency_threshold = capacity.emergency_threshold,
    usage_second = 0, usage_granted = 0, usage_before = 0, cut = 0, cut_since = 0,
    emergency = OFF, emergency_since = 0, emergency_until = 0,
    contest_second = 0, contest_weights = 0, contest_before = 0,
    harvested_at = now, due = NEVER, history_from = version, history_turns = 0, harvest_cursor = '',
  })
end

-- The most that guarantees may add up to.
function cluster.promisable(capacity)
  return scaled(capacity.rate, PROMISABLE)
end

function cluster.depth()
  return share(l1.burst_ratio, per_second(l1.rate))
end

function cluster.reserve()
  return share(l1.reserved, per_second(l1.rate))
end

-- The most slack there may be: what full meters leave of the depth. Kept, as every application asks for it.
local ceiling
function cluster.ceiling()
  ceiling = ceiling or minus(cluster.depth(), per_second(l1.promised))
  return ceiling
end

-- What bursts and loans may use: all but the reserve.
function cluster.spendable()
  return minus(l1.slack, cluster.reserve())
end

-- Takes up what spilled from a meter, as far as there is room.
function cluster.absorb(spilled)
  if spilled == 0 then
    return
  end
  l1.slack = min(plus(l1.slack, spilled), cluster.ceiling())
end

-- Sets what is promised: full meters leave less or more room for slack now.
function cluster.promise(promised)
  l1.promised, ceiling = promised, nil
  l1.slack = min(l1.slack, cluster.ceiling())
end

function cluster.refill()
  local elapsed = min(minus(now, l1.refilled_at), MAX_ELAPSED)
  l1.refilled_at = now
  cluster.absorb(over(minus(l1.rate, l1.promised), elapsed))
end

-- Something happens no later than at that moment.
function cluster.expect(moment)
  l1.due = min(l1.due, moment)
end

-- A clock that stepped back goes on counting in the second it had reached, if that is the next one.
local function roll_usage()
  local second = floor(now / 1000)
  if second == l1.usage_second or second + 1 == l1.usage_second then
    return
  end
  l1.usage_before = second == l1.usage_second + 1 and l1.usage_granted or 0
  l1.usage_granted = 0
  l1.usage_second = second
end

-- Counts what was granted.
function cluster.use(granted)
  roll_usage()
  l1.usage_granted = plus(l1.usage_granted, granted)
end

-- The share of the capacity that was granted over the last second.
function cluster.usage()
  local second, granted, before = l1.usage_second, l1.usage_granted, l1.usage_before
  local this = floor(now / 1000)
  if this ~= second and this + 1 ~= second then
    before = this == second + 1 and granted or 0
    granted, second = 0, this
  end
  local still = min(minus((second + 1) * 1000, now), 1000)
  return ratio_of(plus(granted, proportion(before, still, 1000)), per_second(l1.rate))
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

-- An operator declares an emergency, or gives it a new end.
function cluster.declare_emergency(duration)
  set_emergency(BY_OPERATOR, l1.emergency == OFF and now or l1.emergency_since, now + duration)
end

-- An operator ends the emergency; returns whether there was one.
function cluster.end_emergency()
  local was_on = l1.emergency ~= OFF
  set_emergency(OFF, 0, now + EMERGENCY_QUIET)
  return was_on
end

function cluster.follow()
  local used = cluster.usage()
  follow_overload(used)
  follow_emergency(used)
end

