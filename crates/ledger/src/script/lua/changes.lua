-- The policies that changed after a version, the oldest change first.
--
-- KEYS: root   ARGV: since limit
--   since is a version or the next of the page before: above 2^42 it tells in which turn of the history its reader
--   began with the whole.
-- Result: {'ok', version, next, more, is_whole, rate, reserved, burst_ratio, emergency_threshold, connections,
--   change...}, a change being {app, version, terms..., body}, or {app} if it is gone
-- Example: 0 256 -> {'ok', 1, 1, 0, 1, 1000000000, 1000, 12000, 9500, 5000, {'app-a', 1, 10000000, ..., '{}'}}
local SCALE, TURNS = 2 ^ 42, 1000

-- The version to go on after, the turn of who began with the whole, and whether this is where the whole begins.
local function start(since)
  local turn, this_turn = math.floor(since / SCALE), l1.history_turns % TURNS + 1
  local version = since - turn * SCALE
  local goes_on = turn == this_turn or turn == 0 and version >= l1.history_from
  if goes_on and version <= l1.version then
    return version, turn, 0
  end
  return 0, this_turn, 1
end

local function change(id)
  local app = apps.find(id)
  return app and view.policy(app) or { id }
end

local function changes(since, limit)
  book.advance()
  local version, turn, is_whole = start(since)
  local found = redis.call('ZRANGEBYSCORE', root .. ':order', '(' .. text(version), '+inf', 'WITHSCORES', 'LIMIT', 0, limit + 1)
  local has_more = #found > 2 * limit
  local next = has_more and turn * SCALE + tonumber(found[2 * limit]) or l1.version
  local result = book.ok(l1.version, next, has_more and 1 or 0, is_whole)
  for _, term in ipairs(cluster.capacity()) do
    result[#result + 1] = term
  end
  local ids = {}
  for i = 1, min(#found, 2 * limit), 2 do
    ids[#ids + 1] = found[i]
  end
  apps.load(ids)
  for _, id in ipairs(ids) do
    result[#result + 1] = change(id)
  end
  return result
end

rare()
local failure = book.open(2, { '' }) or book.complaint(1, 2)
if failure then
  return failure
end
return book.commit(changes(tonumber(ARGV[1]), view.page(tonumber(ARGV[2]))))
