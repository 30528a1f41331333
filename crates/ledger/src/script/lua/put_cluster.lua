-- Changes what the cluster can stand.
--
-- KEYS: root   ARGV: rate reserved burst_ratio emergency_threshold connections
-- Result: {'ok', version} or {'err', 'overpromised', rate} or {'err', 'invalid'}
-- Example: 2000000000 1000 12000 9500 5000 -> {'ok', 4}
local function put_cluster(capacity)
  book.advance()
  local most = cluster.promisable(capacity)
  if l1.promised > most then
    return book.err('overpromised', most)
  end
  cluster.set_capacity(capacity)
  cluster.promise(l1.promised)
  l1.version = l1.version + 1
  return book.ok(l1.version)
end

rare()
local failure = book.open(5, { '' })
if failure then
  return failure
end
local capacity = cluster.read_capacity()
if not cluster.is_valid(capacity) then
  return book.err('invalid')
end
return book.commit(put_cluster(capacity))
