-- What was spent on which operation, in all: at the application's id in the hash <root>:operations, a row of doubles with
-- operation, requests, whole tokens and the fraction of one for each operation that there was.
local operations_key = root .. ':operations'

-- Those that were looked at: the row as it is stored, or '' if there is none.
operations = { loaded = {}, changed = {} }

-- Reads those of several applications at once.
function operations.load(ids)
  for i, row in ipairs(in_batches('HMGET', operations_key, ids)) do
    operations.loaded[ids[i]] = row or ''
  end
end

-- The totals in a row, by operation.
local function read(row)
  local totals = {}
  for from = 1, #row, 32 do
    local operation, requests, consumed, rest = struct.unpack('<dddd', row, from)
    totals[operation] = { requests = requests, consumed = consumed, rest = rest }
  end
  return totals
end

local function write(totals)
  local row = {}
  for operation, total in pairs(totals) do
    row[#row + 1] = struct.pack('<dddd', operation, total.requests, total.consumed, total.rest)
  end
  return table.concat(row)
end

-- Adds what an entry reports from that byte on: operation, requests and cost of each.
function operations.count(id, entry, start)
  local totals = read(operations.loaded[id])
  for from = start, #entry, 24 do
    local operation, requests, cost = struct.unpack('<ddd', entry, from)
    local total = totals[operation] or { requests = 0, consumed = 0, rest = 0 }
    local sum = plus(total.rest, cost)
    total.rest = sum % MICROS_PER_TOKEN
    total.requests = min(total.requests + requests, COUNT_MAX)
    total.consumed = min(total.consumed + (sum - total.rest) / MICROS_PER_TOKEN, COUNT_MAX)
    totals[operation] = total
  end
  operations.loaded[id] = write(totals)
  operations.changed[id] = true
end

function operations.delete(id)
  operations.loaded[id], operations.changed[id] = '', nil
  redis.call('HDEL', operations_key, id)
end

-- Writes down what changed.
function operations.save()
  local changes = {}
  for id in pairs(operations.changed) do
    changes[#changes + 1] = id
    changes[#changes + 1] = operations.loaded[id]
  end
  if #changes > 0 then
    in_batches('HSET', operations_key, changes)
  end
end

