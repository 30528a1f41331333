-- Which application changed when, for those who know an earlier version.
--
-- <root>:order has every application by the version of its last change, deleted ones too; <root>:gone has the deleted
-- ones. No two changes share a version. What happened before l1.history_from may be forgotten: who knows only an
-- earlier version has to start over. history_turns counts how often something was forgotten.
local MOST_GONE, FORGOTTEN = 1000, 500

local order, gone = root .. ':order', root .. ':gone'

history = {}

-- An application was set.
function history.set(id, version, is_new)
  redis.call('ZADD', order, version, id)
  if is_new then
    redis.call('ZREM', gone, id)
  end
end

-- Forgets the oldest deletions.
local function forget()
  local ids = redis.call('ZRANGE', gone, 0, FORGOTTEN - 1)
  l1.history_from = tonumber(redis.call('ZSCORE', gone, ids[#ids]))
  l1.history_turns = l1.history_turns + 1
  redis.call('ZREM', order, unpack(ids))
  redis.call('ZREM', gone, unpack(ids))
end

-- An application was deleted.
function history.delete(id, version)
  redis.call('ZADD', order, version, id)
  redis.call('ZADD', gone, version, id)
  if redis.call('ZCARD', gone) > MOST_GONE then
    forget()
  end
end

-- Everybody has to start over: what they know may not be what is known here.
function history.start_over()
  l1.history_from = l1.version
  l1.history_turns = l1.history_turns + 1
end

