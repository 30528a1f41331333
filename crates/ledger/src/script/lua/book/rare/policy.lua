-- Changes of policy, now or at a given time.
--
-- The sum of all guarantees is checked in the same step that changes it. A change that lies in the future counts at
-- once with the larger of its two guarantees: when its time comes, it fits. <root>:pending has the applications by when
-- they change, <root>:next:<id> the hash with what each changes to.
local pending = root .. ':pending'

policy = {
  -- How many arguments an application takes: its id, its terms and its body.
  ARITY = #TERMS + 2,
}

local MOST = {
  guaranteed = RATE_MAX, burst = TOKENS_MAX, burst_window = NEVER, priority = 3, loan_limit = TOKENS_MAX, interest = RATIO_MAX,
  repay_share = ONE, automatic = 1, enabled = 1,
}

-- Whether the terms of all applications in the arguments from there up to there can be put in force: books with anything else in them
-- could not be read any more.
function policy.are_valid(from, to)
  for i = from, to, policy.ARITY do
    local id, terms = policy.read(i)
    if #id < 1 or #id > 128 or string.find(id, '[^%w_-]') then
      return false
    end
    for _, term in ipairs(TERMS) do
      if not is_whole(terms[term], 0, MOST[term]) then
        return false
      end
    end
  end
  return true
end

-- The id and the terms of an application from the arguments that start there.
function policy.read(from)
  local terms = { body = ARGV[from + #TERMS + 1] }
  for i, term in ipairs(TERMS) do
    terms[term] = tonumber(ARGV[from + i])
  end
  return ARGV[from], terms
end

local function next_key(id)
  return root .. ':next:' .. id
end

-- What an application changes to, or nil.
function policy.next(id)
  local values = redis.call('HMGET', next_key(id), 'at', 'carry', 'body', unpack(TERMS))
  if not values[1] then
    return nil
  end
  local change = { at = tonumber(values[1]), carry = values[2], body = values[3] }
  for i, term in ipairs(TERMS) do
    change[term] = tonumber(values[i + 3])
  end
  return change
end

function policy.cancel(id)
  redis.call('ZREM', pending, id)
  redis.call('DEL', next_key(id))
end

function policy.schedule(id, terms, carry, at)
  local change = { 'at', at, 'carry', carry, 'body', terms.body }
  for _, term in ipairs(TERMS) do
    change[#change + 1] = term
    change[#change + 1] = terms[term]
  end
  redis.call('HSET', next_key(id), unpack(change))
  redis.call('ZADD', pending, at, id)
  cluster.expect(at)
end

-- What is set aside for an application: the larger of what it has and what it will have.
function policy.promised_to(id)
  local app, change = apps.find(id), policy.next(id)
  return max(app and app.guaranteed or 0, change and change.guaranteed or 0)
end

-- The headroom of a new application's first second comes out of the slack.
function policy.open(id, terms, version)
  local headroom = min(per_second(terms.guaranteed), l1.slack)
  l1.slack = minus(l1.slack, headroom)
  apps.open(id, terms, version, headroom)
end

-- Puts a policy in force.
function policy.apply(id, terms, carry)
  local app = apps.find(id)
  if not app then
    return policy.open(id, terms, l1.version)
  end
  -- What accrued until now accrued under the old policy.
  apps.refill(app)
  apps.change(app, terms, l1.version, carry)
end

-- Puts changes in force whose time has come, a bounded number in each call.
function policy.apply_due()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', pending, '-inf', now, 'LIMIT', 0, CHORES)) do
    local change = policy.next(id)
    local others = minus(l1.promised, policy.promised_to(id))
    policy.cancel(id)
    cluster.promise(add_rates(others, change.guaranteed))
    l1.version = l1.version + 1
    policy.apply(id, change, change.carry)
  end
end

-- When the next change takes effect.
function policy.next_due()
  local first = redis.call('ZRANGE', pending, 0, 0, 'WITHSCORES')
  return first[2] and tonumber(first[2]) or NEVER
end

