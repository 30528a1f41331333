-- L2: an application, its policy, account and books, a row of doubles at its id in the hash <root>.
--
-- since is the version it came into being with: leases of a namesake that was deleted before are void.
-- Rights: rights, outstanding (in leases). Headroom: meter. Burst allowance: burst_drawn since burst_opened_at, which
-- is -1 while no window has opened. Loan: borrowed, debt. Books, which balance at any moment:
--   opened + minted + drawn + loaned + adopted + overrun
--   = rights + outstanding + spent + lost + repaid + expired + suspected + dropped
-- Nodes that fell silent and may go on alone: suspect_rate, believed until suspect_until; aside is what was set aside for them
-- and has not been reported as spent yet.
-- Those that were looked at: a table each, or false if there is none of that name.
local apps = { loaded = {} }

local function unpack_app(id, record)
  local version, since, epoch,
    guaranteed, burst, burst_window, priority, loan_limit, interest, repay_share, automatic, enabled,
    rights, meter, outstanding, burst_drawn, burst_opened_at, borrowed, debt, refilled_at,
    opened, minted, drawn, loaned, adopted, overrun, spent, lost, repaid, expired, suspected, dropped,
    total_consumed, consumed_rest, total_requests, slack_used, slack_second, suspect_rate, suspect_until, aside
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
    aside = aside,
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
    app.suspect_rate, app.suspect_until, app.aside)
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

-- Mints what has accrued since the last look; what the meter cannot hold and what pays back goes to the slack.
function apps.refill(app)
  if app.epoch ~= l1.epoch then
    rare()
    apps.forget(app)
  end
  local since, rate, repaid = app.refilled_at, app.guaranteed, 0
  if l1.emergency ~= OFF then
    rare()
    rate = cluster.in_force(app)
  end
  -- A clock that stepped back mints nothing now, and stops neither the minting nor the burst window.
  app.refilled_at = now
  app.burst_opened_at = min(app.burst_opened_at, now)
  local minted = min(rate * min(minus(now, since), MAX_ELAPSED), MINTED_MAX)
  if app.debt > 0 then
    rare()
    repaid = apps.pay_off(app, apps.share_for_debt(app, minted))
    app.repaid = plus(app.repaid, repaid)
  end
  -- Rights are kept as far as there is room: leases count against the burst too.
  local own, rights, room = minted - repaid, app.rights, minus(app.burst, app.outstanding)
  local kept = min(own, minus(room, rights))
  app.rights = min(rights + kept, room)
  app.minted = plus(app.minted, minted)
  app.lost = plus(app.lost, own - kept + minus(rights, room))
  local sum = app.meter + own
  app.meter = min(sum, rate * 1000)
  cluster.absorb(repaid + sum - app.meter)
  if app.suspect_rate > 0 then
    rare()
    apps.set_aside(app, since)
  end
  if app.opened + app.minted + app.drawn + app.loaned + app.adopted + app.overrun > BOOKS_MAX
    or app.spent + app.lost + app.repaid + app.expired + app.suspected + app.dropped > BOOKS_MAX then
    rare()
    apps.close_books(app)
  end
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

