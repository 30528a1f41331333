-- Reservations: tokens spent ahead for work whose cost is known only when it is done.
--
-- One hash each, <root>:held:<id>; <root>:ends has them by when they end by themselves, <root>:open how many of them each
-- application has.
local ends, open = root .. ':ends', root .. ':open'

-- How many an application may have open, and when one that has so many may try again, in milliseconds.
local OPEN_MAX, FULL_WAIT = 10000, 1000

reservations = {}

local function held_key(id)
  return root .. ':held:' .. id
end

-- The reservation of that id, or nil.
function reservations.find(id)
  local values = redis.call('HMGET', held_key(id), 'expires_at', 'estimate', 'app')
  return values[1] and { expires_at = tonumber(values[1]), estimate = tonumber(values[2]), app = values[3] } or nil
end

-- The refusal of one more, or nil if there is room for it.
function reservations.refusal(app)
  if (tonumber(redis.call('HGET', open, app.id)) or 0) >= OPEN_MAX then
    return book.refused(APP_EXHAUSTED, FULL_WAIT, app.rights)
  end
end

local function forget_one(app_id)
  if redis.call('HINCRBY', open, app_id, -1) <= 0 then
    redis.call('HDEL', open, app_id)
  end
end

function reservations.open(id, app, estimate, expires_at)
  redis.call('HINCRBY', open, app.id, 1)
  redis.call('HSET', held_key(id), 'expires_at', expires_at, 'estimate', estimate, 'app', app.id)
  redis.call('ZADD', ends, expires_at, id)
  cluster.expect(expires_at)
end

-- Ends a reservation whose work cost `actual`. Returns what goes back to the bucket, what is taken from it on top,
-- and what it did not have, which becomes debt; or nil and the error.
function reservations.settle(id, actual)
  local held = reservations.find(id)
  if not held then
    return nil, 'no_reservation'
  end
  redis.call('DEL', held_key(id))
  redis.call('ZREM', ends, id)
  forget_one(held.app)
  local app = apps.find(held.app)
  if not app then
    -- Deleted meanwhile: it has nothing to settle with.
    return nil, 'unknown_app'
  end
  apps.refill(app)
  local shortfall = minus(actual, held.estimate)
  local charged = min(shortfall, app.rights)
  local settled = { minus(held.estimate, actual), charged, minus(shortfall, charged) }
  apps.settle(app, unpack(settled))
  return settled
end

-- Ends reservations whose time is up, a bounded number in each call.
function reservations.expire()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', ends, '-inf', now, 'LIMIT', 0, CHORES)) do
    reservations.settle(id, 0)
  end
end

-- When the next reservation ends by itself.
function reservations.next_due()
  local first = redis.call('ZRANGE', ends, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) or NEVER
end

