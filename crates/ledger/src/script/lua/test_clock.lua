-- The time that a test has set, in milliseconds, at <KEYS[1]>:now.
local function clock()
  return tonumber(redis.call('GET', KEYS[1] .. ':now'))
end

