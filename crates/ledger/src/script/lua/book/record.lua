-- A hash as a table of its fields, which writes back only what changed.
--
-- A schema lists the fields: `numbers` of them hold numbers, the others texts. `writes` are texts that are written
-- when set and never read here. The first field is there whenever the hash is.
--
-- Example: a hash {version = '3', slack = '17'} loads as {version = 3, slack = 17}; after slack = 18, saving it is
-- HSET key slack 18.
local record = {}

-- unpack puts its results on the stack, which has room for some thousands.
local BATCH = 1000

local function in_batches(command, key, items)
  local all = {}
  for from = 1, #items, BATCH do
    local part = redis.call(command, key, unpack(items, from, min(from + BATCH - 1, #items)))
    if type(part) == 'table' then
      for i = 1, #part do
        all[from + i - 1] = part[i]
      end
    end
  end
  return all
end

-- The record of values that were read in the order of the schema; nil if there are none.
function record.of(key, schema, values)
  if not values[1] then
    return nil
  end
  local state = { key = key, stored = values }
  for i = 1, #schema do
    local value = values[i] or ''
    if i <= schema.numbers then
      value = tonumber(value) or 0
    end
    state[schema[i]], values[i] = value, value
  end
  return state
end

function record.load(key, schema)
  return record.of(key, schema, redis.call('HMGET', key, unpack(schema)))
end

-- A record that is not in the store yet.
function record.new(key, state)
  state.key, state.stored = key, {}
  return state
end

-- The fields and values that changed, in one list.
function record.changes(state, schema)
  local changes, stored = {}, state.stored
  for i = 1, #schema do
    local field = schema[i]
    local value = state[field]
    if value ~= stored[i] then
      changes[#changes + 1] = field
      changes[#changes + 1] = value
    end
  end
  for _, field in ipairs(schema.writes or {}) do
    if state[field] then
      changes[#changes + 1] = field
      changes[#changes + 1] = state[field]
    end
  end
  return changes
end

function record.save(state, schema)
  local changes = record.changes(state, schema)
  if #changes > 0 then
    redis.call('HSET', state.key, unpack(changes))
  end
end

