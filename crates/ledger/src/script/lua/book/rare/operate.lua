-- How operations answer, and tokens that are spent at once.
function book.ok(...)
  return { 'ok', ... }
end

function book.err(...)
  return { 'err', ... }
end

-- What is wrong with the arguments in those places, which are to be numbers; nil if nothing is.
function book.complaint(...)
  for _, place in ipairs({ ... }) do
    if not is_whole(tonumber(ARGV[place]), 0, GIVEN_MAX) then
      return book.err('invalid')
    end
  end
end

-- Not enough tokens, why, and how long until there are.
function book.refused(reason, wait, available)
  return { 'err', 'refused', reason, wait, available }
end

-- Takes and spends all of a cost from an application brought up to now; returns the refusal if it cannot.
function book.spend_now(app, cost)
  if app.enabled == 0 then
    return book.refused(APP_DISABLED, -1, app.rights)
  end
  local grant = grants.draw(app, cost, cost)
  if grant.refusal > 0 then
    return book.refused(grant.refusal, grant.wait, grant.available)
  end
  grants.hand_out(app, grant)
  cluster.use(cost)
  apps.spend(app, cost, 1)
end

