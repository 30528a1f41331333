-- Fills a cluster that is not known; one that is known stays as it is.
--
-- KEYS: root   ARGV: rate reserved burst_ratio emergency_threshold connections remembered (app terms... body)*
--   remembered is the version that a node remembers, if the cluster was there before and is lost: then nobody starts
--   with anything. -1 if it is new.
-- Result: {'ok', version} or {'err', 'overpromised', rate} or {'err', 'invalid'}
-- Example: 1000000000 1000 12000 9500 5000 -1 app-a 10000000 50000000000 60000 1 10000000000 2000 5000 1 1 {} -> {'ok', 1}
local SEED_HEAD = 6

-- What is left of a cluster whose own record is gone would mix with the new one.
local function clear_remains()
  for _, ids in ipairs({
    redis.call('ZRANGE', root .. ':heard', 0, -1), redis.call('LRANGE', root .. ':silent', 0, -1),
    redis.call('ZRANGE', root .. ':late', 0, -1), redis.call('ZRANGE', root .. ':quiet', 0, -1),
    redis.call('ZRANGE', root .. ':left', 0, -1),
  }) do
    for _, id in ipairs(ids) do
      redis.call('DEL', root .. ':node:' .. id)
    end
  end
  redis.call('DEL', root)
  for _, part in ipairs({
    'apps', 'bodies', 'operations', 'order', 'gone', 'heard', 'silent', 'late', 'quiet', 'left', 'pending', 'ends', 'open',
  }) do
    redis.call('DEL', root .. ':' .. part)
  end
end

local function seed(capacity, remembered)
  local promised = 0
  for i = SEED_HEAD + 1, #ARGV, policy.ARITY do
    local _, terms = policy.read(i)
    promised = add_rates(promised, terms.guaranteed)
  end
  local most = cluster.promisable(capacity)
  if promised > most then
    return book.err('overpromised', most)
  end
  clear_remains()
  local is_lost = remembered >= 0
  local first = is_lost and remembered + 1 or 1
  cluster.new(capacity, promised, first)
  if is_lost then
    l1.slack = 0
  end
  -- Each application comes with a version of its own, so that a reader can go on after any of them.
  for i = SEED_HEAD + 1, #ARGV, policy.ARITY do
    local id, terms = policy.read(i)
    l1.version = first + (i - SEED_HEAD - 1) / policy.ARITY
    if is_lost then
      apps.open(id, terms, l1.version, nil)
    else
      policy.open(id, terms, l1.version)
    end
  end
  return book.commit(book.ok(l1.version))
end

rare()
if #KEYS ~= 1 or #ARGV < SEED_HEAD or (#ARGV - SEED_HEAD) % policy.ARITY ~= 0 then
  return book.err('arity', #KEYS, #ARGV, SEED_HEAD)
end
local capacity, remembered = cluster.read_capacity(), tonumber(ARGV[SEED_HEAD])
if not (cluster.is_valid(capacity) and is_whole(remembered, -1, COUNT_MAX) and policy.are_valid(SEED_HEAD + 1, #ARGV)) then
  return book.err('invalid')
end
if not book.open(#ARGV, { '' }) then
  return book.ok(l1.version)
end
return seed(capacity, remembered)
