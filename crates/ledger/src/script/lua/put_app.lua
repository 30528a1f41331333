-- Sets an application, now or at a given time.
--
-- KEYS: root   ARGV: app terms... body replaces carry effective_at
--   replaces is the version that is to be replaced: 0 for a new application, -1 for whatever there is.
--   carry is keep, scale or reset.
-- Result: {'ok', version} or {'err', 'conflict', version} or {'err', 'overpromised', rate} or {'err', 'invalid'}
-- Example: app-a 10000000 50000000000 60000 1 10000000000 2000 5000 1 1 {} -1 scale 0 -> {'ok', 2}
local function put_app(replaces, carry, effective_at)
  book.advance()
  local id, terms = policy.read(1)
  local app = apps.find(id)
  local version = app and app.version or 0
  if replaces >= 0 and replaces ~= version then
    return book.err('conflict', version)
  end
  local others = minus(l1.promised, policy.promised_to(id))
  local is_due = effective_at <= now
  local promise = terms.guaranteed
  if not is_due and app then
    promise = max(promise, app.guaranteed)
  end
  local promised, most = add_rates(others, promise), cluster.promisable(l1)
  if promised > most then
    return book.err('overpromised', most)
  end
  policy.cancel(id)
  cluster.promise(promised)
  l1.version = l1.version + 1
  if is_due then
    policy.apply(id, terms, carry)
  else
    policy.schedule(id, terms, carry, effective_at)
  end
  return book.ok(l1.version)
end

rare()
local failure = book.open(policy.ARITY + 3, { '' })
if failure then
  return failure
end
local replaces, effective_at = tonumber(ARGV[policy.ARITY + 1]), tonumber(ARGV[policy.ARITY + 3])
if not (policy.are_valid(1, 1) and is_whole(replaces, -1, COUNT_MAX) and is_whole(effective_at, 0, NEVER)) then
  return book.err('invalid')
end
return book.commit(put_app(replaces, ARGV[policy.ARITY + 2], effective_at))
