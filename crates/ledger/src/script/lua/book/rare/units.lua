-- Products and ratios of quantities. Where a product would not fit into a double, it is worked out in parts.
--
-- Example: share(1000, 4000000) -> 400000 (a tenth of four tokens).
local floor = math.floor

local EXACT = 2 ^ 53
local RATE_MAX = 1e12
local RATIO_MAX = 1000000

-- Whether that is a number, whole, and between those. What is not a number is neither above nor below any.
--
-- Example: is_whole(nil, 0, 3) -> false; is_whole(2.5, 0, 3) -> false; is_whole(3, 0, 3) -> true.
function is_whole(number, least, most)
  return number ~= nil and number >= least and number <= most and number % 1 == 0
end

-- All digits of a whole number: tostring would round it.
function text(number)
  return string.format('%.0f', number)
end

-- floor(a * b / c) and what remains, for c above zero. The quotient is exact up to 2^53 and then only large.
local function divide(a, b, c)
  local product = a * b
  if product < EXACT then
    local quotient = floor(product / c)
    return quotient, product - quotient * c
  end
  if a < b then
    a, b = b, a
  end
  local whole = floor(a / c)
  a = a - whole * c
  -- Long multiplication by b, one digit at a time, in the largest base in which c still fits.
  local _, bits = math.frexp(c)
  local base, unit = 2 ^ (53 - bits), 1
  while unit * base <= b do
    unit = unit * base
  end
  local quotient, rest, digits = 0, 0, b
  while unit >= 1 do
    local digit = floor(digits / unit)
    digits = digits - digit * unit
    local shifted = rest * base
    local carry = floor(shifted / c)
    local sum = shifted - carry * c + a * digit
    local more = floor(sum / c)
    rest = sum - more * c
    quotient = quotient * base + carry + more
    unit = unit / base
  end
  return whole * b + quotient, rest
end

-- A ratio of a plain number, rounded down.
local function apply(ratio, value)
  if ratio == ONE then
    return value
  end
  local tens = floor(value / ONE)
  return tens * ratio + floor((value - tens * ONE) * ratio / ONE)
end

-- A ratio of an amount, rounded down.
local function share(ratio, amount)
  return min(apply(ratio, amount), TOKENS_MAX)
end

-- A ratio of an amount, rounded up to a whole token.
local function share_rounded_up(ratio, amount)
  local tokens, rest = divide(amount, ratio, ONE * MICROS_PER_TOKEN)
  if rest > 0 then
    tokens = tokens + 1
  end
  return min(tokens * MICROS_PER_TOKEN, TOKENS_MAX)
end

-- amount * part / whole, rounded down; zero if whole is.
local function proportion(amount, part, whole)
  if whole == 0 then
    return 0
  end
  local quotient = divide(amount, part, whole)
  return min(quotient, TOKENS_MAX)
end

-- part / whole as a ratio, rounded down. Zero of nothing is zero, anything of nothing is the maximum.
function ratio_of(part, whole)
  if whole == 0 then
    return part == 0 and 0 or RATIO_MAX
  end
  local quotient = divide(part, ONE, whole)
  return min(quotient, RATIO_MAX)
end

function add_rates(a, b)
  return min(a + b, RATE_MAX)
end

local function scaled(rate, ratio)
  return min(apply(ratio, rate), RATE_MAX)
end

-- What a rate mints over that many milliseconds.
local function over(rate, elapsed)
  return min(rate * elapsed, TOKENS_MAX)
end

local function per_second(rate)
  return rate * 1000
end

-- How long a rate takes to mint an amount, rounded up; nil if it never will.
local function time_to_mint(rate, amount)
  if amount == 0 then
    return 0
  end
  if rate == 0 then
    return nil
  end
  return floor((amount + rate - 1) / rate)
end

-- Whether a text comes before another, byte by byte: the comparison of Lua follows the server's locale.
local function before(a, b)
  for i = 1, min(#a, #b) do
    local x, y = a:byte(i), b:byte(i)
    if x ~= y then
      return x < y
    end
  end
  return #a < #b
end

