-- The cluster itself as of now.
--
-- KEYS: root   ARGV: none
-- Result: {'ok', now, version, epoch, rate, reserved, burst_ratio, emergency_threshold, connections, promised,
--   slack, usage, cut, emergency, emergency_since, emergency_until, reason, apps, nodes, silent nodes}
-- Example: -> {'ok', 1700000000000, 1, 1699999999999, 1000000000, 1000, 12000, 9500, 5000, 10000000, ..., 0, 0, 0, 0, 0, '', 1, 2, 0}
local function reason()
  if l1.emergency ~= BY_OPERATOR then
    return ''
  end
  return redis.call('HGET', root, ':reason')
end

local function cluster_view()
  book.advance()
  local result = book.ok(now, l1.version, l1.epoch)
  for _, term in ipairs(cluster.capacity()) do
    result[#result + 1] = term
  end
  for _, value in ipairs({
    l1.promised, l1.slack, cluster.usage(), l1.cut, l1.emergency, l1.emergency_since, l1.emergency_until, reason(),
    redis.call('ZCARD', app_index), nodes.count(), nodes.count_silent(),
  }) do
    result[#result + 1] = value
  end
  return result
end

rare()
local failure = book.open(0, { '' })
if failure then
  return failure
end
return book.commit(cluster_view())
