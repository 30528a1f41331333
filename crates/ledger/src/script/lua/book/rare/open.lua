-- What most calls do not need is defined only when it is: a script defines its library anew in each call, and that takes
-- longer than what a plain sync does with it. The files of this folder are the body of open_rare. They add to the tables
-- of the others, and fill these:
local calls, grants, policy, reservations, history, notice, app_index, TERMS, text, add_rates, ratio_of, is_whole
local open_rare, is_open

-- Whatever calls a function that is defined there calls this first.
local function rare()
  if not is_open then
    is_open = true
    open_rare()
  end
end

-- Why something is refused, as numbers: 0 is not at all.
local UNKNOWN_APP, APP_DISABLED, APP_EXHAUSTED, CLUSTER_EXHAUSTED = 1, 2, 3, 4
local EMERGENCY_BLOCKED, EMERGENCY_QUOTA_EXCEEDED, BORROW_LIMIT_EXCEEDED, CLUSTER_INSUFFICIENT = 5, 6, 7, 8

