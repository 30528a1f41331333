-- What the cluster allows an application just now.
local EMERGENCY_RATIOS = { [0] = 10000, 5000, 1000, 0 }

local climate = {}

-- The share of the guarantee that is in force.
function climate.in_force(app)
  if l1.emergency == OFF then
    return ONE
  end
  return EMERGENCY_RATIOS[app.priority]
end

-- What overload leaves of allocations above the guarantee, low priorities less.
function climate.factor(app)
  return minus(ONE, floor((l1.cut * (4 + app.priority) + 4) / 5))
end

