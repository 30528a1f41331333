-- L2: a new application, and what seldom happens to one.
TERMS = {
  'guaranteed', 'burst', 'burst_window', 'priority', 'loan_limit', 'interest', 'repay_share', 'automatic', 'enabled',
}

-- Every application, in order of their ids.
app_index = root .. ':apps'

-- The texts that come with policies, which are not read here.
local bodies = root .. ':bodies'

-- Reads several applications at once.
function apps.load(ids)
  local missing = {}
  for _, id in ipairs(ids) do
    if apps.loaded[id] == nil then
      missing[#missing + 1] = id
    end
  end
  if #missing > 0 then
    for i, record in ipairs(in_batches('HMGET', root, missing)) do
      apps.take(missing[i], record)
    end
  end
end

-- A new application with what `headroom` the cluster could spare for its first second; with nothing at all if nil.
function apps.open(id, terms, version, headroom)
  local app = {
    id = id, version = version, since = version, epoch = l1.epoch,
    rights = 0, meter = 0, outstanding = 0, burst_drawn = 0, burst_opened_at = -1, borrowed = 0, debt = 0,
    refilled_at = now, opened = 0, minted = 0, drawn = 0, loaned = 0, adopted = 0, overrun = 0,
    spent = 0, lost = 0, repaid = 0, expired = 0, suspected = 0, dropped = 0,
    total_consumed = 0, consumed_rest = 0, total_requests = 0, slack_used = 0, slack_second = 0,
    suspect_rate = 0, suspect_until = 0, aside = 0,
  }
  apps.set_terms(app, terms)
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
  redis.call('HDEL', root, app.id)
  redis.call('HDEL', bodies, app.id)
  redis.call('HDEL', root .. ':operations', app.id)
  redis.call('ZREM', app_index, app.id)
end

function apps.set_terms(app, terms)
  for _, term in ipairs(TERMS) do
    app[term] = terms[term]
  end
  redis.call('HSET', bodies, app.id, terms.body)
end

function apps.body(app)
  return redis.call('HGET', bodies, app.id)
end

-- The application of that name brought up to now, or false.
function apps.bring_up(id)
  local app = apps.find(id)
  if app then
    apps.refill(app)
  end
  return app
end

-- Rights it may hold: leases count against the burst too.
function apps.room(app)
  return minus(app.burst, app.outstanding)
end

-- Takes unspent tokens back from a lease: rights as far as there is room, headroom as far as the meter holds it.
function apps.take_back(app, unspent)
  unspent = min(unspent, app.outstanding)
  if unspent == 0 then
    return
  end
  app.outstanding = app.outstanding - unspent
  local room, rights = apps.room(app), app.rights
  local kept = min(unspent, minus(room, rights))
  app.rights = min(rights + kept, room)
  app.lost = plus(app.lost, unspent - kept + minus(rights, room))
  local sum = plus(app.meter, unspent)
  app.meter = min(sum, per_second(cluster.in_force(app)))
  cluster.absorb(sum - app.meter)
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

-- Loses everything, as when the ledger finds that it has forgotten what it granted.
function apps.forget(app)
  app.epoch = l1.epoch
  drop_rights_above(app, 0)
  app.dropped = plus(app.dropped, app.outstanding)
  app.outstanding, app.meter, app.refilled_at = 0, 0, now
  app.suspect_rate, app.suspect_until, app.aside = 0, 0, 0
end

-- Burns what nodes that are cut off are thought to have let through since the last look.
function apps.set_aside(app, since)
  local elapsed = minus(min(app.suspect_until, now), since)
  local thought = min(over(app.suspect_rate, elapsed), app.rights)
  app.rights = minus(app.rights, thought)
  app.meter = minus(app.meter, thought)
  app.suspected = plus(app.suspected, thought)
  app.aside = plus(app.aside, thought)
  if now >= app.suspect_until then
    app.suspect_rate, app.suspect_until, app.aside = 0, 0, 0
  end
end

-- Closes the books and opens new ones before the sums grow out of what is exact.
function apps.close_books(app)
  app.opened = plus(app.rights, app.outstanding)
  app.minted, app.drawn, app.loaned, app.adopted, app.overrun = 0, 0, 0, 0, 0
  app.spent, app.lost, app.repaid, app.expired, app.suspected, app.dropped = 0, 0, 0, 0, 0, 0
end

-- What of a refill goes into paying back.
function apps.share_for_debt(app, minted)
  return share(app.repay_share, minted)
end

-- Pays off debt, and what was borrowed in proportion; returns what was paid and that part.
function apps.pay_off(app, payment)
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

-- Spends what is out in leases.
function apps.spend(app, amount, requests)
  app.outstanding = minus(app.outstanding, amount)
  apps.count(app, amount, requests)
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

-- What was set aside is spent after all. The books may have been closed since: then nobody knows.
local function take_aside(app, amount)
  if now >= app.suspect_until then
    return 0
  end
  local covered = min(min(amount, app.aside), app.suspected)
  app.aside = app.aside - covered
  app.suspected = app.suspected - covered
  return covered
end

-- Spends what was never leased: what was set aside for it, and then from the bucket as far as that goes.
function apps.spend_unleased(app, amount)
  local rest = amount - take_aside(app, amount)
  local had = min(rest, app.rights)
  app.rights = minus(app.rights, had)
  app.overrun = plus(app.overrun, rest - had)
  apps.count(app, amount, 0)
end

-- One node more is suspected of going on alone, and of letting so much through.
function apps.suspect(app, fallback, to)
  if app.suspect_rate == 0 then
    app.aside = 0
  end
  app.suspect_rate = add_rates(app.suspect_rate, fallback)
  app.suspect_until = max(app.suspect_until, to)
end

-- Writes off what is in a lease that expired.
function apps.write_off(app, amount)
  amount = min(amount, app.outstanding)
  app.outstanding = minus(app.outstanding, amount)
  app.expired = plus(app.expired, amount)
end

-- A node does not hold what was left in its lease; returns what is in it now.
function apps.settle_difference(app, left, holding)
  if holding < left then
    -- The node lost some: nobody will spend them any more.
    apps.write_off(app, left - holding)
    return holding
  end
  -- The ledger does not know of some: it takes up what the burst allows.
  local adopted = min(holding - left, apps.room(app))
  app.outstanding = plus(app.outstanding, adopted)
  app.adopted = plus(app.adopted, adopted)
  drop_rights_above(app, apps.room(app))
  return plus(left, adopted)
end

-- Borrows into the bucket; returns the debt it makes.
function apps.borrow(app, amount)
  app.rights = plus(app.rights, amount)
  app.loaned = plus(app.loaned, amount)
  return apps.lend(app, amount)
end

-- Pays back from the bucket; returns what was paid and by how much the borrowed amount went down.
function apps.repay(app, amount)
  local paid, principal = apps.pay_off(app, min(amount, app.rights))
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
  apps.count(app, plus(charged, owed), 0)
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
  apps.set_terms(app, terms)
  app.version = version
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

