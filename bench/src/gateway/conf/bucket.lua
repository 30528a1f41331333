-- One bucket for each application in shared memory, and no more than that: no header fields, no count of connections.
local APPS = { ["app-a"] = { rate = {rate}, burst = {burst} }, ["app-b"] = { rate = 10, burst = 10 } }
local bucket = ngx.shared.bucket
local M = {}

function M.access()
    local name = ngx.var.http_x_tollgate_app
    local app = name and APPS[name]
    if not app then return ngx.exit(403) end
    local now = ngx.now()
    local tokens = bucket:get(name) or app.burst
    local last = bucket:get(name .. ":at") or now
    tokens = math.min(app.burst, tokens + (now - last) * app.rate)
    bucket:set(name .. ":at", now)
    if tokens < 1 then
        bucket:set(name, tokens)
        return ngx.exit(429)
    end
    bucket:set(name, tokens - 1)
end

return M
