-- Calls of nodes that are not simply the next one. Their head is a row of doubles: the upper and lower halves of
-- incarnation, seq and acked, the epoch of the last answer and the silence after which it is missed.
calls = {}

-- Whether a number is less than another, each given by its halves.
local function is_less(high, low, other_high, other_low)
  return high < other_high or high == other_high and low < other_low
end

-- What was answered to the very same call, or the error if it comes too late; nil if it is new.
function calls.answered(head, node)
  if not node then
    return nil
  end
  local high, low, seq_high, seq_low = struct.unpack(HEAD_FORMAT, head)
  if is_less(high, low, node.incarnation_high, node.incarnation_low) then
    return { 'err', 'fenced' }
  end
  if high ~= node.incarnation_high or low ~= node.incarnation_low
    or is_less(node.seq_high, node.seq_low, seq_high, seq_low) then
    return nil
  end
  if is_less(seq_high, seq_low, node.seq_high, node.seq_low) then
    return { 'err', 'stale' }
  end
  -- There is none any more after a goodbye.
  local reply = redis.call('HGET', node.key, ':reply')
  return reply and { 'ok', reply } or { 'err', 'stale' }
end

-- Lets a node in whose call is not the next one.
function calls.admit(id, head, node)
  local high, low, _, _, acked_high, acked_low, epoch = struct.unpack(HEAD_FORMAT, head)
  local is_same = node and node.incarnation_high == high and node.incarnation_low == low
  local known_high, known_low = is_same and node.seq_high or 0, is_same and node.seq_low or 0
  local is_noticed = l1.losses > 0 and epoch < l1.epoch
  if is_less(known_high, known_low, acked_high, acked_low) and not is_noticed then
    -- It had an answer that the ledger knows nothing of: writes were lost, in a failover say. What they granted is not
    -- known any more, so everybody starts from nothing, and nodes present what they hold. Whoever comes later and had its
    -- answer before that has nothing new to tell.
    cluster.start_over(epoch)
  end
  if is_same then
    return node
  end
  if node then
    nodes.bury(node)
  end
  return nodes.open(id, high, low)
end

