-- L1: what the cluster can stand, its slack, its use, overload and emergency.
--
-- The hash <root> holds the book: the field :l1 this, and the id of each application its record. A record is a row of
-- doubles. Of l1 they are:
--   version, epoch       raised with every change, and whenever something was found to be lost
--   rate, reserved, burst_ratio, emergency_threshold   the capacity
--   promised             the sum of all guarantees
--   slack, refilled_at   headroom for anybody
--   ceiling              the most slack there may be: what full meters leave of the depth
--   usage_*              what was spent in this second and in the one before, of leases or at once
--   cut, cut_since       how much overload cuts
--   emergency            0 (off: none starts by itself before emergency_until), 1 (by an operator) or 2 (by use)
--   contest_*            the weights of those who asked for slack in this second and in the one before
--   harvested_at         when idle applications were last looked at
--   due                  a moment before which no node falls silent, no change takes effect and no reservation ends
--   history_*            see history
--   losses               how often something was found to be lost
-- The cluster as it is, or nil if it is not known.
local l1

-- What others were told of it; nil if it was not known.
local found_version, found_emergency, found_end

local cluster = {}

function cluster.unpack(record)
  local version, epoch, rate, reserved, burst_ratio, emergency_threshold, promised, slack, refilled_at,
    usage_second, usage_spent, usage_before, cut, cut_since, emergency, emergency_since, emergency_until,
    contest_second, contest_weights, contest_before, harvested_at, due, history_from, history_turns, ceiling, losses
    = struct.unpack(L1_FORMAT, record)
  l1 = {
    version = version, epoch = epoch, rate = rate, reserved = reserved, burst_ratio = burst_ratio,
    emergency_threshold = emergency_threshold, promised = promised, slack = slack, refilled_at = refilled_at,
    usage_second = usage_second, usage_spent = usage_spent, usage_before = usage_before,
    cut = cut, cut_since = cut_since,
    emergency = emergency, emergency_since = emergency_since, emergency_until = emergency_until,
    contest_second = contest_second, contest_weights = contest_weights, contest_before = contest_before,
    harvested_at = harvested_at, due = due, history_from = history_from, history_turns = history_turns,
    ceiling = ceiling, losses = losses,
  }
  found_version, found_emergency, found_end = version, emergency, emergency_until
end

function cluster.pack()
  return struct.pack(L1_FORMAT,
    l1.version, l1.epoch, l1.rate, l1.reserved, l1.burst_ratio, l1.emergency_threshold, l1.promised, l1.slack,
    l1.refilled_at, l1.usage_second, l1.usage_spent, l1.usage_before, l1.cut, l1.cut_since,
    l1.emergency, l1.emergency_since, l1.emergency_until,
    l1.contest_second, l1.contest_weights, l1.contest_before, l1.harvested_at, l1.due,
    l1.history_from, l1.history_turns, l1.ceiling, l1.losses)
end

-- Takes up what spilled from a meter, as far as there is room.
function cluster.absorb(spilled)
  if spilled > 0 then
    l1.slack = min(plus(l1.slack, spilled), l1.ceiling)
  end
end

-- Counts what was spent. A clock that stepped back goes on counting in the second it had reached, if that is the
-- next one.
function cluster.use(spent)
  local second = (now - now % 1000) / 1000
  local counted = l1.usage_second
  if second ~= counted and second + 1 ~= counted then
    l1.usage_before = second == counted + 1 and l1.usage_spent or 0
    l1.usage_spent, l1.usage_second = 0, second
  end
  l1.usage_spent = plus(l1.usage_spent, spent)
end

