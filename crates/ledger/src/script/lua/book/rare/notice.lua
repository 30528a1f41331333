-- Tells whoever listens that the cluster has changed. It is a hint and no more: messages get lost, so nothing may depend
-- on them. The version rides on every reply.
--
-- ratelimit:config:{cluster} carries the new version, whatever it was that changed. ratelimit:emergency:{cluster} carries
-- '<version> on' or '<version> off' if an emergency started, ended or got a new end. What is in braces puts the channels
-- into the slot of the keys.
--
-- Example: declaring an emergency publishes '5' to ratelimit:config:{c} and '5 on' to ratelimit:emergency:{c}.
notice = {}

-- Nodes on a cluster of servers listen in the shard. Elsewhere nobody does, and servers before 7.0 do not know the command:
-- then everybody is told. Failing to tell is no reason to fail.
local function tell(kind, message)
  local channel = 'ratelimit:' .. kind .. ':' .. string.match(root, '{.*}')
  local heard = redis.pcall('SPUBLISH', channel, message)
  if type(heard) ~= 'number' or heard == 0 then
    redis.pcall('PUBLISH', channel, message)
  end
end

local function is_emergency_news()
  if l1.emergency ~= (found_emergency or OFF) then
    return true
  end
  return l1.emergency ~= OFF and l1.emergency_until ~= found_end
end

-- Says what this call has changed.
function notice.publish()
  local version = text(l1.version)
  tell('config', version)
  if is_emergency_news() then
    tell('emergency', version .. (l1.emergency == OFF and ' off' or ' on'))
  end
end

