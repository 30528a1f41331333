-- What was spent on which operation, in all: at the application's id in the hash <root>:operations, a row of doubles with
-- operation, requests, whole tokens and the fraction of one for each operation that there was.

-- The totals that a record becomes by what an entry reports: operation, requests and cost of each.
local function add_operations(record, entry)
  local totals = {}
  for from = 1, #record, 32 do
    local operation, requests, consumed, rest = struct.unpack('<dddd', record, from)
    totals[operation] = { requests, consumed, rest }
  end
  for from = ENTRY_BYTES + 1, #entry, OPERATION_BYTES do
    local operation, requests, cost = struct.unpack('<ddd', entry, from)
    local total = totals[operation] or { 0, 0, 0 }
    local sum = plus(total[3], cost)
    local rest = sum % MICROS_PER_TOKEN
    total[1] = min(total[1] + requests, COUNT_MAX)
    total[2] = min(total[2] + (sum - rest) / MICROS_PER_TOKEN, COUNT_MAX)
    total[3] = rest
    totals[operation] = total
  end
  local row = {}
  for operation, total in pairs(totals) do
    row[#row + 1] = struct.pack('<dddd', operation, total[1], total[2], total[3])
  end
  return table.concat(row)
end

-- Counts what the entries of a call report of applications that are known, one after the other in fields, but for the
-- first.
local function count_operations(fields, known)
  local key = root .. ':operations'
  local ids, entries = {}, {}
  for i = 2, #fields do
    if #ARGV[2 * i] > ENTRY_BYTES and known[fields[i]] then
      ids[#ids + 1] = fields[i]
      entries[#ids] = ARGV[2 * i]
    end
  end
  if #ids == 0 then
    return
  end
  local changes, last = {}, {}
  for i, record in ipairs(in_batches('HMGET', key, ids)) do
    local id = ids[i]
    last[id] = add_operations(last[id] or record or '', entries[i])
    changes[2 * i - 1], changes[2 * i] = id, last[id]
  end
  in_batches('HSET', key, changes)
end

