-- The balance as of now.
--
-- KEYS: root   ARGV: none
-- Result: {'ok', slack, depth, line...}, a line for each application in order:
--   {app, rights, meter, outstanding, burst_drawn, burst_opened_at, borrowed, debt, refilled_at, opened, minted, drawn,
--    loaned, adopted, overrun, spent, lost, repaid, expired, suspected, dropped, leased}
-- Example: -> {'ok', 300000000000, 1200000000000, {'app-a', 10000000000, ..., 0}}
local ACCOUNT = {
  'rights', 'meter', 'outstanding', 'burst_drawn', 'burst_opened_at', 'borrowed', 'debt', 'refilled_at',
}

local FLOWS = {
  'opened', 'minted', 'drawn', 'loaned', 'adopted', 'overrun',
  'spent', 'lost', 'repaid', 'expired', 'suspected', 'dropped',
}

local function line(app, leased)
  local values = { app.id }
  for _, field in ipairs(ACCOUNT) do
    values[#values + 1] = app[field]
  end
  for _, flow in ipairs(FLOWS) do
    values[#values + 1] = app[flow]
  end
  values[#values + 1] = leased or 0
  return values
end

local function balance()
  local all, leased = audit.take()
  local result = book.ok(l1.slack, cluster.depth())
  for _, app in ipairs(all) do
    result[#result + 1] = line(app, leased[app.id])
  end
  return result
end

rare()
local failure = book.open(0, { '' })
if failure then
  return failure
end
return book.commit(balance())
