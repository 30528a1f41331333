-- Starts an application's bucket over, debt and burst allowance included. Leases stay out.
--
-- KEYS: root   ARGV: app
-- Result: {'ok'} or {'err', 'unknown_app'}
-- Example: app-a -> {'ok'}
local function reset(id)
  book.advance()
  local app = apps.bring_up(id)
  if not app then
    return book.err('unknown_app')
  end
  apps.reset(app)
  return book.ok()
end

rare()
local failure = book.open(1, { '' })
if failure then
  return failure
end
return book.commit(reset(ARGV[1]))
