-- Removes an application and what was scheduled for it; its leases are void.
--
-- KEYS: root   ARGV: app
-- Result: {'ok', version} or {'err', 'unknown_app'}
-- Example: app-a -> {'ok', 3}
local function delete_app(id)
  book.advance()
  local app = apps.find(id)
  if not app and not policy.next(id) then
    return book.err('unknown_app')
  end
  local rest = minus(l1.promised, policy.promised_to(id))
  policy.cancel(id)
  cluster.promise(rest)
  l1.version = l1.version + 1
  if app then
    apps.delete(app, l1.version)
    cluster.absorb(app.meter)
  end
  return book.ok(l1.version)
end

rare()
local failure = book.open(1, { '' })
if failure then
  return failure
end
return book.commit(delete_app(ARGV[1]))
