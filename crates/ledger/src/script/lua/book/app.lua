-- L2: an application, its policy, account and books. One hash each, <root>:app:<id>; all are in <root>:apps.
--
-- Rights: rights, outstanding (in leases). Headroom: meter. Burst allowance: burst_drawn since burst_opened_at, which
-- is -1 while no window has opened. Loan: borrowed, debt. Books, which balance at any moment:
--   opened + minted + drawn + loaned + adopted + overrun
--   = rights + outstanding + spent + lost + repaid + expired + suspected + dropped
-- since is the version it came into being with: leases of a namesake that was deleted before are void.
local TERMS = {
  'guaranteed', 'burst', 'burst_window', 'priority', 'loan_limit', 'interest', 'repay_share', 'automatic', 'enabled',
}

local FLOWS = {
  'opened', 'minted', 'drawn', 'loaned', 'adopted', 'overrun',
  'spent', 'lost', 'repaid', 'expired', 'suspected', 'dropped',
}

local APP = {
  'version', 'since', 'epoch',
  'guaranteed', 'burst', 'burst_window', 'priority', 'loan_limit', 'interest', 'repay_share', 'automatic', 'enabled',
  'rights', 'meter', 'outstanding', 'burst_drawn', 'burst_opened_at', 'borrowed', 'debt', 'refilled_at',
  'opened', 'minted', 'drawn', 'loaned', 'adopted', 'overrun',
  'spent', 'lost', 'repaid', 'expired', 'suspected', 'dropped',
  'total_consumed', 'consumed_rest', 'total_requests', 'slack_used', 'slack_second', 'suspect_rate', 'suspect_until',
  numbers = 39,
  writes = { 'body' },
}

local app_index = root .. ':apps'

local apps = { loaded = {} }

-- The application of that name, or false.
function apps.find(id)
  local app = apps.loaded[id]
  if app == nil then
    app = record.load(root .. ':app:' .. id, APP) or false
    if app then
      app.id = id
    end
    apps.loaded[id] = app
  end
  return app
end

-- A new application with what `headroom` the cluster could spare for its first second; with nothing at all if nil.
function apps.open(id, terms, version, headroom)
  local app = record.new(root .. ':app:' .. id, { id = id, version = version, since = version, epoch = l1.epoch })
  for i = 4, APP.numbers do
    app[APP[i]] = 0
  end
  for _, term in ipairs(TERMS) do
    app[term] = terms[term]
  end
  app.body = terms.body
  app.refilled_at, app.burst_opened_at = now, -1
  if headroom then
    local second = per_second(app.guaranteed)
    app.rights, app.meter = min(second, app.burst), min(headroom, second)
    app.opened = app.rights
  end
  apps.loaded[id] = app
  redis.call('ZADD', app_index, 0, id)
  history.set(id, version, true)
end

function apps.delete(app, version)
  apps.loaded[app.id] = false
  history.delete(app.id, version)
  redis.call('DEL', app.key)
  redis.call('ZREM', app_index, app.id)
end

function apps.save()
  for _, app in pairs(apps.loaded) do
    if app then
      record.save(app, APP)
    end
  end
end

-- Rights it may hold: leases count against the burst too.
function apps.room(app)
  return minus(app.burst, app.outstanding)
end

local function set_rights(app, rights)
  app.dropped = plus(app.dropped, minus(app.rights, rights))
  app.opened = plus(app.opened, minus(rights, app.rights))
  app.rights = rights
end

local function drop_rights_above(app, most)
  if app.rights > most then
    set_rights(app, most)
  end
end

-- Saves rights as far as there is room; returns the rest.
local function save_rights(app, amount)
  local sum = plus(app.rights, amount)
  app.rights = min(sum, apps.room(app))
  return minus(sum, app.rights)
end

-- Fills the meter as far as it goes; returns the rest.
local function meter_in(app, amount, rate)
  local sum = plus(app.meter, amount)
  app.meter = min(sum, per_second(rate))
  return minus(sum, app.meter)
end

-- Pays off debt, and what was borrowed in proportion; returns what was paid and that part.
local function pay_off(app, payment)
  local paid = min(payment, app.debt)
  local principal = proportion(app.borrowed, paid, app.debt)
  app.debt = minus(app.debt, paid)
  app.borrowed = minus(app.borrowed, principal)
  return paid, principal
end

-- Lends an amount; returns the debt it makes, with interest.
function apps.lend(app, amount)
  local debt = share_rounded_up(min(ONE + app.interest, RATIO_MAX), amount)
  app.borrowed = plus(app.borrowed, amount)
  app.debt = plus(app.debt, debt)
  return debt
end

-- Loses everything, as when the ledger finds that it has forgotten what it granted.
local function forget(app)
  drop_rights_above(app, 0)
  app.dropped = plus(app.dropped, app.outstanding)
  app.outstanding, app.meter, app.refilled_at = 0, 0, now
  app.suspect_rate, app.suspect_until = 0, 0
end

-- Burns what nodes that are cut off are thought to have let through since the last look.
local function set_aside(app, since)
  if app.suspect_rate == 0 then
    return
  end
  local elapsed = minus(min(app.suspect_until, now), since)
  local thought = min(over(app.suspect_rate, elapsed), app.rights)
  app.rights = minus(app.rights, thought)
  app.meter = minus(app.meter, thought)
  app.suspected = plus(app.suspected, thought)
  if now >= app.suspect_until then
    app.suspect_rate, app.suspect_until = 0, 0
  end
end

-- Closes the books and opens new ones before the sums grow out of what is exact.
local function close_if_large(app)
  local sources = app.opened + app.minted + app.drawn + app.loaned + app.adopted + app.overrun
  local sinks = app.spent + app.lost + app.repaid + app.expired + app.suspected + app.dropped
  if sources <= TOKENS_MAX / 2 and sinks <= TOKENS_MAX / 2 then
    return
  end
  for _, flow in ipairs(FLOWS) do
    app[flow] = 0
  end
  app.opened = plus(app.rights, app.outstanding)
end

-- Mints what has accrued since the last look; what the meter cannot hold and what pays back goes to the slack.
function apps.refill(app)
  if app.epoch ~= l1.epoch then
    app.epoch = l1.epoch
    forget(app)
  end
  local since = app.refilled_at
  local elapsed = min(minus(now, since), MAX_ELAPSED)
  -- A clock that stepped back mints nothing now, and stops neither the minting nor the burst window.
  app.refilled_at = now
  app.burst_opened_at = min(app.burst_opened_at, now)

  local rate = scaled(app.guaranteed, climate.in_force(app))
  local minted = over(rate, elapsed)
  local repaid = pay_off(app, share(app.repay_share, minted))
  local lost = save_rights(app, minus(minted, repaid))
  local spilled = plus(repaid, meter_in(app, minus(minted, repaid), rate))
  app.minted = plus(app.minted, minted)
  app.lost = plus(app.lost, lost)
  app.repaid = plus(app.repaid, repaid)
  set_aside(app, since)
  close_if_large(app)
  cluster.absorb(spilled)
end

local function count(app, amount, requests)
  app.spent = plus(app.spent, amount)
  app.total_requests = app.total_requests + requests
  local rest = plus(app.consumed_rest, amount)
  local whole = floor(rest / MICROS_PER_TOKEN)
  app.total_consumed = app.total_consumed + whole
  app.consumed_rest = rest - whole * MICROS_PER_TOKEN
end

-- Takes back what was counted as spent. The books may have been closed since: then it came from before.
local function uncount(app, amount)
  local in_these = min(amount, app.spent)
  app.spent = minus(app.spent, in_these)
  app.opened = plus(app.opened, minus(amount, in_these))
  local whole = math.ceil(minus(amount, app.consumed_rest) / MICROS_PER_TOKEN)
  app.total_consumed = minus(app.total_consumed, whole)
  app.consumed_rest = minus(plus(app.consumed_rest, min(whole * MICROS_PER_TOKEN, TOKENS_MAX)), amount)
end

-- Spends what is out in leases.
function apps.spend(app, amount, requests)
  app.outstanding = minus(app.outstanding, amount)
  count(app, amount, requests)
end

-- Spends what was never leased: takes it from the bucket as far as that goes.
function apps.spend_unleased(app, amount)
  if amount == 0 then
    return
  end
  local had = min(amount, app.rights)
  app.rights = minus(app.rights, had)
  app.overrun = plus(app.overrun, minus(amount, had))
  count(app, amount, 0)
end

-- Takes unspent tokens back from a lease.
function apps.take_back(app, unspent)
  unspent = min(unspent, app.outstanding)
  if unspent == 0 then
    return
  end
  app.outstanding = minus(app.outstanding, unspent)
  app.lost = plus(app.lost, save_rights(app, unspent))
  cluster.absorb(meter_in(app, unspent, scaled(app.guaranteed, climate.in_force(app))))
end

-- Writes off what is in a lease that expired.
function apps.write_off(app, amount)
  amount = min(amount, app.outstanding)
  app.outstanding = minus(app.outstanding, amount)
  app.expired = plus(app.expired, amount)
end

-- Takes up what a node holds and the ledger does not know of, as far as the burst allows; returns how much.
function apps.adopt(app, amount)
  local adopted = min(amount, apps.room(app))
  app.outstanding = plus(app.outstanding, adopted)
  app.adopted = plus(app.adopted, adopted)
  drop_rights_above(app, apps.room(app))
  return adopted
end

-- Borrows into the bucket; returns the debt it makes.
function apps.borrow(app, amount)
  app.rights = plus(app.rights, amount)
  app.loaned = plus(app.loaned, amount)
  return apps.lend(app, amount)
end

-- Pays back from the bucket; returns what was paid and by how much the borrowed amount went down.
function apps.repay(app, amount)
  local paid, principal = pay_off(app, min(amount, app.rights))
  app.rights = minus(app.rights, paid)
  app.repaid = plus(app.repaid, paid)
  local headroom = min(paid, app.meter)
  app.meter = minus(app.meter, headroom)
  cluster.absorb(headroom)
  return paid, principal
end

-- Settles a reservation, which was spent when it was made.
function apps.settle(app, refund, charged, owed)
  -- Back into a lease of nobody's, from which it is taken back.
  uncount(app, refund)
  app.outstanding = plus(app.outstanding, refund)
  apps.take_back(app, refund)
  app.rights = minus(app.rights, charged)
  app.debt = plus(app.debt, owed)
  app.loaned = plus(app.loaned, owed)
  count(app, plus(charged, owed), 0)
end

-- Sets what is out to what it was found to be.
function apps.correct(app, outstanding)
  app.dropped = plus(app.dropped, minus(app.outstanding, outstanding))
  app.adopted = plus(app.adopted, minus(outstanding, app.outstanding))
  app.outstanding = outstanding
  drop_rights_above(app, apps.room(app))
end

-- Puts another policy in force. carry says what happens to the rights: keep, scale or reset.
function apps.change(app, terms, version, carry)
  local old = app.burst
  for _, term in ipairs(TERMS) do
    app[term] = terms[term]
  end
  app.version, app.body = version, terms.body
  history.set(app.id, version)
  local room, second = apps.room(app), per_second(app.guaranteed)
  if carry == 'keep' then
    drop_rights_above(app, room)
  elseif carry == 'scale' then
    set_rights(app, min(proportion(app.rights, app.burst, old), room))
  else
    set_rights(app, min(second, room))
  end
  local meter = min(app.meter, second)
  local spilled = minus(app.meter, meter)
  app.meter = meter
  cluster.absorb(spilled)
end

-- Starts the bucket over, as a new application would.
function apps.reset(app)
  set_rights(app, min(per_second(app.guaranteed), apps.room(app)))
  app.borrowed, app.debt = 0, 0
  app.burst_drawn, app.burst_opened_at = 0, -1
end

