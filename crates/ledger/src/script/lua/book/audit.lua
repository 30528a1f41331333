-- The balance of all applications. It looks at every application and every node: for operators, not for requests.
local audit = {}

-- Brings every application up to now; returns them in order, and what the leases of each add up to.
function audit.take()
  book.advance()
  local ids = redis.call('ZRANGEBYLEX', app_index, '-', '+')
  apps.load(ids)
  local all = {}
  for i, id in ipairs(ids) do
    all[i] = apps.bring_up(id)
  end
  return all, nodes.leased()
end

