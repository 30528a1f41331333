-- How much of what is asked for an application gets, and where it comes from.
--
-- Each token granted takes one right and one token of headroom. Rights come from the bucket, the burst allowance and
-- a loan, in this order; headroom from the application's meter and then from the cluster's slack, never from its
-- reserve. When less than half of the slack is left, everybody who asked for some in the last second gets a share
-- of it by weight.
--
-- Example: with 5 rights, a meter of 3 and much slack, an ask for 4 grants
-- {bucket = 4, allowance = 0, loan = 0, meter = 3, slack = 1, total = 4}.
local CONTEST_FLOOR = 100
local WEIGHTS = { [0] = 8, 4, 2, 1 }

grants = {}

-- An application asks for slack: enters it into the contest once a second.
local function enter_contest(app)
  local second = (now - now % 1000) / 1000
  if second ~= l1.contest_second then
    l1.contest_before = second == l1.contest_second + 1 and l1.contest_weights or 0
    l1.contest_weights, l1.contest_second = 0, second
  end
  if app.slack_second ~= second then
    app.slack_second, app.slack_used = second, 0
    l1.contest_weights = l1.contest_weights + WEIGHTS[app.priority]
  end
end

-- What the application may still take of the slack in this second, of so much that is there.
local function contest_share(app, spendable)
  if plus(spendable, spendable) >= minus(l1.ceiling, cluster.reserve()) then
    return TOKENS_MAX
  end
  local weight = WEIGHTS[app.priority]
  local weights = max(max(l1.contest_weights, l1.contest_before), weight)
  local supply = plus(spendable, minus(l1.rate, l1.promised) * 1000)
  local fair = max(proportion(supply, weight, weights), share(CONTEST_FLOOR, spendable))
  local used = app.slack_second == (now - now % 1000) / 1000 and app.slack_used or 0
  return minus(fair, used)
end

-- What of the slack it may have beyond its meter. Overload cuts it, low priorities more.
local function slack_for(app, beyond)
  if beyond == 0 or l1.emergency ~= OFF then
    return 0
  end
  local spendable = cluster.spendable()
  if l1.cut > 0 then
    beyond = share(minus(ONE, floor((l1.cut * (4 + app.priority) + 4) / 5)), beyond)
  end
  return min(min(beyond, spendable), contest_share(app, spendable))
end

local function is_window_open(app)
  return app.burst_opened_at >= 0 and now - app.burst_opened_at < app.burst_window
end

-- What may still be drawn beyond the bucket in this window.
local function allowance_left(app)
  local allowance = minus(app.burst, app.guaranteed * 1000)
  return is_window_open(app) and minus(allowance, app.burst_drawn) or allowance
end

local function loan_room(app)
  return app.automatic == 1 and minus(app.loan_limit, app.borrowed) or 0
end

-- As much as there is of what is wanted; for what is needed, and no more, a loan may be taken.
local function plan(app, need, want)
  local in_bucket = min(app.rights, want)
  local meter = min(app.meter, in_bucket)
  local slack = slack_for(app, want - meter)

  local bucket = meter + min(slack, in_bucket - meter)
  local allowance, loan = 0, 0
  if bucket == app.rights and bucket < want then
    local left = slack - (bucket - meter)
    allowance = min(min(allowance_left(app), want - bucket), left)
    loan = min(min(loan_room(app), minus(need, bucket + allowance)), left - allowance)
  end
  local total = bucket + allowance + loan
  return {
    bucket = bucket, allowance = allowance, loan = loan, meter = meter, slack = total - meter, total = total,
    available = app.rights, wait = 0, refusal = 0,
  }
end

-- Why a need is not met, and how long until the guarantee alone meets it, if nobody takes anything meanwhile; -1 if
-- it never will.
local function refuse(app, need)
  local rate = cluster.in_force(app)
  local refusal
  if l1.emergency ~= OFF then
    refusal = EMERGENCY_RATIOS[app.priority] == 0 and EMERGENCY_BLOCKED or EMERGENCY_QUOTA_EXCEEDED
  else
    local rights = plus(plus(app.rights, allowance_left(app)), loan_room(app))
    refusal = rights < need and APP_EXHAUSTED or CLUSTER_EXHAUSTED
  end
  if need > app.burst or need > rate * 1000 then
    return refusal, -1
  end
  local kept = app.debt == 0 and ONE or minus(ONE, app.repay_share)
  return refusal, time_to_mint(scaled(rate, kept), minus(need, min(app.rights, app.meter))) or -1
end

-- Plans a grant to an application brought up to now. The plan says why it falls short of the need, if it does, and
-- how long until it would not; and what is in the bucket.
function grants.draw(app, need, want)
  if want > app.meter then
    enter_contest(app)
  end
  local grant = plan(app, need, want)
  if grant.total < need then
    grant.refusal, grant.wait = refuse(app, need)
  end
  return grant
end

local function draw_extra(app, grant)
  if grant.allowance > 0 then
    if not is_window_open(app) then
      app.burst_drawn, app.burst_opened_at = 0, now
    end
    app.burst_drawn = plus(app.burst_drawn, grant.allowance)
    app.drawn = plus(app.drawn, grant.allowance)
  end
  if grant.loan > 0 then
    rare()
    apps.lend(app, grant.loan)
    app.loaned = plus(app.loaned, grant.loan)
  end
end

-- Moves a planned grant out of account and slack and into leases.
function grants.hand_out(app, grant)
  app.rights = app.rights - grant.bucket
  app.meter = app.meter - grant.meter
  if grant.total > grant.bucket then
    draw_extra(app, grant)
  end
  app.outstanding = plus(app.outstanding, grant.total)
  if grant.slack > 0 then
    l1.slack = minus(l1.slack, grant.slack)
    app.slack_used = plus(app.slack_used, grant.slack)
  end
end

