-- Compares what is out with what the leases add up to, and corrects what drifted too far.
--
-- KEYS: root   ARGV: none
-- Result: {'ok', (app, drift)*}, of each application that was corrected, the drift in ten-thousandths
-- Example: -> {'ok', 'app-a', 2500}
local TOLERANCE = 1000

local function reconcile()
  local all, leased = audit.take()
  local result = book.ok()
  for _, app in ipairs(all) do
    local expected = leased[app.id] or 0
    local drift = ratio_of(math.abs(expected - app.outstanding), expected)
    if drift > TOLERANCE then
      apps.correct(app, expected)
      result[#result + 1] = app.id
      result[#result + 1] = drift
    end
  end
  return result
end

rare()
local failure = book.open(0, { '' })
if failure then
  return failure
end
return book.commit(reconcile())
