-- The three tiers in shared memory: a node's lease, refilled from the application's bucket and from the cluster's.
local APPS = { ["app-a"] = { rate = {rate}, burst = {burst} }, ["app-b"] = { rate = 10, burst = 10 } }
local CAPACITY, RESERVE = 100000000, 1000
local BASE = { GET = 1, HEAD = 1, PUT = 5, POST = 5, PATCH = 3, DELETE = 2 }
local tiers = ngx.shared.tiers
local M = {}

local function refill(key, rate, burst, now)
    local tokens = tiers:get(key) or burst
    local last = tiers:get(key .. ":at") or now
    tokens = math.min(burst, tokens + (now - last) * rate)
    tiers:set(key .. ":at", now)
    return tokens
end

-- A miss: the application's bucket, then the cluster's.
local function lease(name, app, cost)
    local now = ngx.now()
    local rights = refill("l2:" .. name, app.rate, app.burst, now)
    local room = refill("l1", CAPACITY, CAPACITY, now)
    local granted = math.min(math.max(cost, RESERVE), rights, room)
    if granted < cost then granted = 0 end
    tiers:set("l2:" .. name, rights - granted)
    tiers:set("l1", room - granted)
    return granted
end

function M.access()
    local name = ngx.var.http_x_tollgate_app
    local app = name and APPS[name]
    if not app then return ngx.exit(403) end
    local connections = tiers:incr("c:" .. name, 1, 0)
    ngx.ctx.app = name
    if connections > 1000 then return ngx.exit(429) end
    local size = tonumber(ngx.var.http_content_length) or 0
    local cost = (BASE[ngx.req.get_method()] or 1) + math.ceil(size / 65536)
    local held = tiers:incr("l3:" .. name, -cost, 0)
    if held < 0 then
        local granted = lease(name, app, cost)
        held = tiers:incr("l3:" .. name, granted == 0 and cost or granted, 0)
        if granted == 0 then
            M.headers(app, cost, 0)
            ngx.header["Retry-After"] = math.max(1, math.ceil(cost / app.rate))
            ngx.status = 429
            ngx.header["Content-Type"] = "application/json"
            ngx.print('{"error":"rate_limit_exceeded","reason":"app_exhausted","retry_after":1,"remaining":0,"cost":', cost, "}")
            return ngx.exit(429)
        end
    end
    ngx.ctx.cost, ngx.ctx.held, ngx.ctx.limit = cost, held, app
end

function M.headers(app, cost, remaining)
    local header = ngx.header
    header["X-RateLimit-Cost"] = cost
    header["X-RateLimit-Limit"] = app.burst
    header["X-RateLimit-Remaining"] = remaining
    header["X-RateLimit-Reset"] = math.ceil(ngx.now() + (app.burst - remaining) / app.rate)
    header["RateLimit-Policy"] = '"app";q=' .. app.burst .. ';qu="tokens"'
    header["RateLimit"] = '"app";r=' .. remaining .. ";t=1"
end

function M.header_filter()
    local ctx = ngx.ctx
    if ctx.cost then M.headers(ctx.limit, ctx.cost, ctx.held) end
end

function M.log()
    if ngx.ctx.app then tiers:incr("c:" .. ngx.ctx.app, -1, 0) end
end

return M
