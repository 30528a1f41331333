-- Ends the emergency, if there is one.
--
-- KEYS: root   ARGV: none
-- Result: {'ok', version}
-- Example: -> {'ok', 6}
local function end_emergency()
  book.advance()
  if cluster.end_emergency() then
    l1.version = l1.version + 1
  end
  return book.ok(l1.version)
end

rare()
local failure = book.open(0, { '' })
if failure then
  return failure
end
return book.commit(end_emergency())
