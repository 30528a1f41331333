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

local grants = {}

-- An application asks for slack: enters it into the contest once a second.
local function enter_contest(app)
  local second = floor(now / 1000)
  if second ~= l1.contest_second then
    l1.contest_before = second == l1.contest_second + 1 and l1.contest_weights or 0
    l1.contest_weights = 0
    l1.contest_second = second
  end
  if app.slack_second ~= second then
    app.slack_second, app.slack_used = second, 0
    l1.contest_weights = l1.contest_weights + WEIGHTS[app.priority]
  end
end

-- What the application may still take of the slack in this second.
local function contest_share(app)
  local spendable = cluster.spendable()
  local most = minus(cluster.ceiling(), cluster.reserve())
  if plus(spendable, spendable) >= most then
    return TOKENS_MAX
  end
  local weight = WEIGHTS[app.priority]
  local weights = max(l1.contest_weights, l1.contest_before, weight)
  local supply = plus(spendable, per_second(minus(l1.rate, l1.promised)))
  local fair = proportion(supply, weight, weights)
  local used = app.slack_second == floor(now / 1000) and app.slack_used or 0
  return minus(max(fair, share(CONTEST_FLOOR, spendable)), used)
end

local function slack_for(app, beyond)
  if l1.emergency ~= OFF then
    return 0
  end
  return min(share(climate.factor(app), beyond), cluster.spendable(), contest_share(app))
end

local function is_window_open(app)
  return app.burst_opened_at >= 0 and minus(now, app.burst_opened_at) < app.burst_window
end

-- What may still be drawn beyond the bucket in this window.
local function allowance_left(app)
  local allowance = minus(app.burst, per_second(app.guaranteed))
  return is_window_open(app) and minus(allowance, app.burst_drawn) or allowance
end

local function draw_allowance(app, amount)
  if amount == 0 then
    return
  end
  if not is_window_open(app) then
    app.burst_drawn, app.burst_opened_at = 0, now
  end
  app.burst_drawn = plus(app.burst_drawn, amount)
end

local function loan_room(app)
  return app.automatic == 1 and minus(app.loan_limit, app.borrowed) or 0
end

-- As much as there is of what is wanted; for what is needed, and no more, a loan may be taken.
local function plan(app, need, want)
  local in_bucket = min(app.rights, want)
  local meter = min(app.meter, in_bucket)
  local slack = slack_for(app, minus(want, meter))

  local bucket = meter + min(slack, in_bucket - meter)
  local left = minus(slack, bucket - meter)
  local allowance, loan = 0, 0
  if bucket == app.rights then
    allowance = min(allowance_left(app), minus(want, bucket), left)
    left = left - allowance
    loan = min(loan_room(app), minus(minus(need, bucket), allowance), left)
  end
  local total = plus(plus(bucket, allowance), loan)
  return {
    bucket = bucket, allowance = allowance, loan = loan, meter = meter, slack = minus(total, meter), total = total,
  }
end

local function reason(app, need)
  if l1.emergency ~= OFF then
    return climate.in_force(app) == 0 and 'emergency_blocked' or 'emergency_quota_exceeded'
  end
  local rights = plus(plus(app.rights, allowance_left(app)), loan_room(app))
  return rights < need and 'app_exhausted' or 'cluster_exhausted'
end

-- How long until the guarantee alone grants a cost, if nobody takes anything meanwhile; nil if it never will.
local function wait(app, cost)
  local rate = scaled(app.guaranteed, climate.in_force(app))
  if cost > app.burst or cost > per_second(rate) then
    return nil
  end
  local kept = app.debt == 0 and ONE or minus(ONE, app.repay_share)
  return time_to_mint(scaled(rate, kept), minus(cost, min(app.rights, app.meter)))
end

-- Plans a grant to an application brought up to now. The plan says why it falls short of the need, if it does, and
-- how long until it would not; and what is in the bucket.
function grants.draw(app, need, want)
  if want > app.meter then
    enter_contest(app)
  end
  local grant = plan(app, need, want)
  grant.available, grant.wait = app.rights, 0
  if grant.total < need then
    grant.refusal, grant.wait = reason(app, need), wait(app, need)
  end
  return grant
end

-- Moves a planned grant out of account and slack and into leases.
function grants.hand_out(app, grant)
  app.rights = minus(app.rights, grant.bucket)
  app.meter = minus(app.meter, grant.meter)
  draw_allowance(app, grant.allowance)
  if grant.loan > 0 then
    apps.lend(app, grant.loan)
  end
  app.outstanding = plus(app.outstanding, grant.total)
  l1.slack = minus(l1.slack, grant.slack)
  app.drawn = plus(app.drawn, grant.allowance)
  app.loaned = plus(app.loaned, grant.loan)
  app.slack_used = plus(app.slack_used, grant.slack)
  cluster.use(grant.total)
end

