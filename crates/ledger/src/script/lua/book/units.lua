-- Quantities: tokens in millionths, rates in thousandths of a token per second, ratios in ten-thousandths, times in
-- milliseconds. All are whole numbers below 2^53, which a double holds exactly.
--
-- Example: minus(3000000, 4000000) -> 0 (there are no amounts below zero).
local TOKENS_MAX = 4e15
local ONE = 10000
local MICROS_PER_TOKEN = 1000000

-- Counts that are kept forever stop here.
local COUNT_MAX = 9e15

-- No number that a caller gives is larger.
local GIVEN_MAX = 2 ^ 52

-- A time that never comes.
local NEVER = 9e15

local function min(a, b)
  if a < b then
    return a
  end
  return b
end

local function max(a, b)
  if a > b then
    return a
  end
  return b
end

local function plus(a, b)
  local sum = a + b
  if sum > TOKENS_MAX then
    return TOKENS_MAX
  end
  return sum
end

local function minus(a, b)
  if a > b then
    return a - b
  end
  return 0
end

