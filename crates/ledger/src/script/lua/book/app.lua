-- L2: an application, its policy, account and books, a row of doubles at its id in the hash <root>.
--
-- since is the version it came into being with: leases of a namesake that was deleted before are void.
-- Rights: rights, outstanding (in leases). Headroom: meter. Burst allowance: burst_drawn since burst_opened_at, which
-- is -1 while no window has opened. Loan: borrowed, debt. Books, which balance at any moment:
--   opened + minted + drawn + loaned + adopted + overrun
--   = rights + outstanding + spent + lost + repaid + expired + suspected + dropped
local APP_FORMAT = '<ddddddddddddddddddddddddddddddddddddddd'
local MAX_ELAPSED = 3600000

-- Those that were looked at: a table each, or false if there is none of that name.
local apps = { loaded = {} }

local function unpack_app(id, record)
  local version, since, epoch,
    guaranteed, burst, burst_window, priority, loan_limit, interest, repay_share, automatic, enabled,
    rights, meter, outstanding, burst_drawn, burst_opened_at, borrowed, debt, refilled_at,
    opened, minted, drawn, loaned, adopted, overrun, spent, lost, repaid, expired, suspected, dropped,
    total_consumed, consumed_rest, total_requests, slack_used, slack_second, suspect_rate, suspect_until
    = struct.unpack(APP_FORMAT, record)
  return {
    id = id, record = record, version = version, since = since, epoch = epoch,
    guaranteed = guaranteed, burst = burst, burst_window = burst_window, priority = priority,
    loan_limit = loan_limit, interest = interest, repay_share = repay_share, automatic = automatic, enabled = enabled,
    rights = rights, meter = meter, outstanding = outstanding, burst_drawn = burst_drawn,
    burst_opened_at = burst_opened_at, borrowed = borrowed, debt = debt, refilled_at = refilled_at,
    opened = opened, minted = minted, drawn = drawn, loaned = loaned, adopted = adopted, overrun = overrun,
    spent = spent, lost = lost, repaid = repaid, expired = expired, suspected = suspected, dropped = dropped,
    total_consumed = total_consumed, consumed_rest = consumed_rest, total_requests = total_requests,
    slack_used = slack_used, slack_second = slack_second, suspect_rate = suspect_rate, suspect_until = suspect_until,
  }
end

function apps.pack(app)
  return struct.pack(APP_FORMAT,
    app.version, app.since, app.epoch,
    app.guaranteed, app.burst, app.burst_window, app.priority, app.loan_limit, app.interest, app.repay_share,
    app.automatic, app.enabled,
    app.rights, app.meter, app.outstanding, app.burst_drawn, app.burst_opened_at, app.borrowed, app.debt,
    app.refilled_at,
    app.opened, app.minted, app.drawn, app.loaned, app.adopted, app.overrun,
    app.spent, app.lost, app.repaid, app.expired, app.suspected, app.dropped,
    app.total_consumed, app.consumed_rest, app.total_requests, app.slack_used, app.slack_second,
    app.suspect_rate, app.suspect_until)
end

-- Takes up the record of an application that was read, or false if there was none.
function apps.take(id, record)
  local app = record and unpack_app(id, record)
  apps.loaded[id] = app
  return app
end

-- The application of that name, or false.
function apps.find(id)
  local app = apps.loaded[id]
  if app == nil then
    app = apps.take(id, redis.call('HGET', root, id))
  end
  return app
end

-- Rights it may hold: leases count against the burst too.
function apps.room(app)
  return minus(app.burst, app.outstanding)
end

-- Saves rights as far as there is room; returns the rest.
local function save_rights(app, amount)
  local room, rights = minus(app.burst, app.outstanding), app.rights
  local kept = min(amount, minus(room, rights))
  app.rights = min(rights + kept, room)
  return amount - kept + minus(rights, room)
end

-- Fills the meter, which holds a second of that rate; returns the rest.
local function meter_in(app, amount, rate)
  local sum = plus(app.meter, amount)
  local meter = min(sum, rate * 1000)
  app.meter = meter
  return sum - meter
end

-- Mints what has accrued since the last look; what the meter cannot hold and what pays back goes to the slack.
function apps.refill(app)
  if app.epoch ~= l1.epoch then
    rare()
    apps.forget(app)
  end
  local since = app.refilled_at
  -- A clock that stepped back mints nothing now, and stops neither the minting nor the burst window.
  app.refilled_at = now
  if app.burst_opened_at > now then
    app.burst_opened_at = now
  end
  local rate, repaid = cluster.in_force(app), 0
  local minted = min(rate * min(minus(now, since), MAX_ELAPSED), MINTED_MAX)
  if app.debt > 0 then
    rare()
    repaid = apps.pay_off(app, share(app.repay_share, minted))
    app.repaid = plus(app.repaid, repaid)
  end
  app.minted = plus(app.minted, minted)
  app.lost = plus(app.lost, save_rights(app, minted - repaid))
  local spilled = plus(repaid, meter_in(app, minted - repaid, rate))
  if app.suspect_rate > 0 then
    rare()
    apps.set_aside(app, since)
  end
  if app.opened + app.minted + app.drawn + app.loaned + app.adopted + app.overrun > BOOKS_MAX
    or app.spent + app.lost + app.repaid + app.expired + app.suspected + app.dropped > BOOKS_MAX then
    rare()
    apps.close_books(app)
  end
  cluster.absorb(spilled)
end

-- The application of that name brought up to now, or false.
function apps.bring_up(id)
  local app = apps.find(id)
  if app then
    apps.refill(app)
  end
  return app
end

-- Counts what was spent.
function apps.count(app, amount, requests)
  app.spent = plus(app.spent, amount)
  app.total_requests = min(app.total_requests + requests, COUNT_MAX)
  local sum = plus(app.consumed_rest, amount)
  local rest = sum % MICROS_PER_TOKEN
  app.total_consumed = min(app.total_consumed + (sum - rest) / MICROS_PER_TOKEN, COUNT_MAX)
  app.consumed_rest = rest
end

-- Spends what is out in leases.
function apps.spend(app, amount, requests)
  app.outstanding = minus(app.outstanding, amount)
  apps.count(app, amount, requests)
end

-- Takes unspent tokens back from a lease.
function apps.take_back(app, unspent)
  unspent = min(unspent, app.outstanding)
  if unspent > 0 then
    app.outstanding = app.outstanding - unspent
    app.lost = plus(app.lost, save_rights(app, unspent))
    cluster.absorb(meter_in(app, unspent, cluster.in_force(app)))
  end
end

