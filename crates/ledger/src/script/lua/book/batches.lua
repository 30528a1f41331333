-- Commands with many arguments. unpack puts its results on the stack, which has room for some thousands.
local BATCH = 1000

-- Runs a command on a key with the arguments in items, in parts of an even number; returns all answers in one list.
local function in_batches(command, key, items)
  local count = #items
  if count <= BATCH then
    return redis.call(command, key, unpack(items))
  end
  local all = {}
  for from = 1, count, BATCH do
    local part = redis.call(command, key, unpack(items, from, min(from + BATCH - 1, count)))
    for i = 1, type(part) == 'table' and #part or 0 do
      all[from + i - 1] = part[i]
    end
  end
  return all
end

