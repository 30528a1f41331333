-- Policies as they are told to those who look.
local view = {}

-- Adds the terms and the body of a policy to a list.
function view.add_policy(list, terms, body)
  for _, term in ipairs(TERMS) do
    list[#list + 1] = terms[term]
  end
  list[#list + 1] = body
end

-- The id, version, terms and body of an application.
function view.policy(app)
  local list = { app.id, app.version }
  view.add_policy(list, app, apps.body(app))
  return list
end

-- How many are on a page when so many are asked for.
function view.page(limit)
  return max(1, min(limit, 256))
end

