-- What most calls do not need is defined only when it is: a script defines its library anew in each call, and that takes
-- longer than what a plain sync does with it. The files of this folder are the body of open_rare. They add to the tables
-- of the others, and fill these:
local policy, reservations, history, operations, notice, app_index, TERMS
local open_rare, is_open

-- Whatever calls a function that is defined there calls this first.
local function rare()
  if not is_open then
    is_open = true
    open_rare()
  end
end

