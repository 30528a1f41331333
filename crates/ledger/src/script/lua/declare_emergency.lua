-- Declares an emergency, or gives it a new end.
--
-- KEYS: root   ARGV: reason duration
-- Result: {'ok', version}
-- Example: 'disks on fire' 300000 -> {'ok', 5}
local function declare(reason, duration)
  book.advance()
  l1.version = l1.version + 1
  cluster.declare_emergency(reason, duration)
  return book.ok(l1.version)
end

rare()
local failure = book.open(2, { '' }) or book.complaint(2)
if failure then
  return failure
end
return book.commit(declare(ARGV[1], tonumber(ARGV[2])))
