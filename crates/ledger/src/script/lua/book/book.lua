-- The book as a whole: opening it, bringing it up to now, answering, and writing down what changed.
--
-- Results are {'ok', ...} or {'err', code, ...}. Whatever an operation answers, what it did on the way to it stays.
local book = {}

-- Opens the book with the applications in the list of fields to read, but for the first. Returns what stands in the way of
-- an operation on a known cluster that takes that many arguments; nil if nothing does.
function book.open(arity, fields)
  if #KEYS ~= 1 or #ARGV ~= arity then
    return { 'err', 'arity', #KEYS, #ARGV, arity }
  end
  fields[1] = ':l1'
  local records = in_batches('HMGET', root, fields)
  if not records[1] then
    return { 'err', 'unseeded' }
  end
  cluster.unpack(records[1])
  for i = 2, #fields do
    apps.take(fields[i], records[i])
  end
end

-- Whether the use is certainly below what overload and emergency start at. A close call is left to those who work it
-- out exactly.
local function is_calm()
  local spent, before, part = l1.usage_spent, l1.usage_before, now % 1000
  if l1.usage_second * 1000 == now - part then
    before = before * (1000 - part) / 1000
  end
  return (spent + before) * ONE < min(OVERLOAD_STARTS_AT, l1.emergency_threshold) * l1.rate * 999
end

-- Brings the cluster up to now: slack, overload, emergency, and a bounded part of the chores.
function book.advance()
  local elapsed = min(minus(now, l1.refilled_at), MAX_ELAPSED)
  l1.refilled_at = now
  cluster.absorb(min(minus(l1.rate, l1.promised) * elapsed, TOKENS_MAX))
  if l1.cut > 0 or l1.emergency ~= OFF or not is_calm() then
    rare()
    cluster.follow()
  end
  if now >= l1.due then
    rare()
    book.do_what_is_due()
  end
  if now < l1.harvested_at or now - l1.harvested_at >= HARVEST_INTERVAL then
    rare()
    book.harvest()
  end
end

-- Writes down what changed, says so, and hands the result on.
function book.commit(result)
  local changes = { ':l1', cluster.pack() }
  for id, app in pairs(apps.loaded) do
    local record = app and apps.pack(app)
    if app and record ~= app.record then
      changes[#changes + 1] = id
      changes[#changes + 1] = record
    end
  end
  in_batches('HSET', root, changes)
  nodes.save()
  if l1.version ~= found_version then
    rare()
    notice.publish()
  end
  return result
end

