-- The plain case of a sync: the next call of a node that is known, about applications within their guarantees, while
-- nothing is due. It is worked out here without the library, which takes longer to define than to use. All or nothing:
-- where anything is out of the ordinary, nothing has been written, and the library does it. As the node is not silent, none
-- of its leases is suspect, and l1.due is no later than when it is missed.

-- One application: its record, its lease and its entry in the call become those after it, its part of the reply, what
-- spills into the slack and what was spent. Nil if it is no plain case.
local function plain_app(record, lease, entry, epoch)
  local version, since, seen_epoch,
    guaranteed, burst, burst_window, priority, loan_limit, interest, repay_share, automatic, enabled,
    rights, meter, outstanding, burst_drawn, burst_opened_at, borrowed, debt, refilled_at,
    opened, minted, drawn, loaned, adopted, overrun, spent, lost, repaid, expired, suspected, dropped,
    total_consumed, consumed_rest, total_requests, slack_used, slack_second, suspect_rate, suspect_until, aside
    = struct.unpack(APP_FORMAT, record)
  local leased, _, _, leased_since = struct.unpack(LEASE_FORMAT, lease)
  local used, requests, returned, holding, need, want, fallback = struct.unpack(ENTRY_FORMAT, entry)
  local elapsed, room = now - refilled_at, burst - outstanding
  -- What is no number is in none of these relations.
  local is_sound = used >= 0 and requests >= 0 and returned == 0 and holding >= 0 and need >= 0 and want >= 0
    and fallback >= 0 and fallback <= GIVEN_MAX
    and used % 1 + requests % 1 + holding % 1 + need % 1 + want % 1 + fallback % 1 == 0
    and (#entry - ENTRY_BYTES) % OPERATION_BYTES == 0 and is_given(entry, ENTRY_BYTES + 1)
  if not is_sound or seen_epoch ~= epoch or enabled == 0 or debt > 0 or elapsed < 0 or elapsed > MAX_ELAPSED
    or guaranteed * elapsed > MINTED_MAX or rights > room
    or leased_since ~= since or used + holding ~= leased or used > outstanding
    or total_requests + requests > COUNT_MAX then
    return nil
  end

  -- Refill: rights up to the burst, the meter up to a second, less what nodes that are cut off let through.
  local accrued = guaranteed * elapsed
  local kept = min(accrued, room - rights)
  local spilled = minus(meter + accrued, guaranteed * 1000)
  rights, meter = rights + kept, meter + accrued - spilled
  minted, lost = minted + accrued, lost + accrued - kept
  if suspect_rate > 0 then
    local thought = min(suspect_rate * minus(min(suspect_until, now), refilled_at), rights)
    rights, meter, suspected, aside = rights - thought, minus(meter, thought), suspected + thought, aside + thought
    if now >= suspect_until then
      suspect_rate, suspect_until, aside = 0, 0, 0
    end
  end
  want = max(want, need)
  if want > rights or want > meter
    or opened + minted + drawn + loaned + adopted + overrun > BOOKS_MAX
    or spent + lost + repaid + expired + suspected + dropped > BOOKS_MAX then
    return nil
  end

  -- Spend and grant.
  local sum = consumed_rest + used
  consumed_rest = sum % MICROS_PER_TOKEN
  total_consumed = min(total_consumed + (sum - consumed_rest) / MICROS_PER_TOKEN, COUNT_MAX)
  total_requests, spent = total_requests + requests, spent + used
  rights, meter, outstanding = rights - want, meter - want, outstanding - used + want
  return struct.pack(APP_FORMAT,
      version, since, seen_epoch,
      guaranteed, burst, burst_window, priority, loan_limit, interest, repay_share, automatic, enabled,
      rights, meter, outstanding, burst_drawn, burst_opened_at, borrowed, debt, now,
      opened, minted, drawn, loaned, adopted, overrun, spent, lost, repaid, expired, suspected, dropped,
      total_consumed, consumed_rest, total_requests, slack_used, slack_second, suspect_rate, suspect_until, aside),
    struct.pack(LEASE_FORMAT, holding + want, fallback, 0, since),
    struct.pack(GRANTED_FORMAT, want, rights, 0, version, 0), spilled, used
end

-- The node's record after the next call of its; nil if this is not the next, or says something of one that is not known.
local function plain_node(record, head, epoch)
  local _, seen_epoch, silent, incarnation_high, incarnation_low, last_high, last_low
    = struct.unpack(NODE_FORMAT, record)
  local high, low, seq_high, seq_low, acked_high, acked_low, answered_in, silence = struct.unpack(HEAD_FORMAT, head)
  -- The others have to be what is known already.
  local is_sound = seq_low <= GIVEN_MAX and acked_low >= 0 and answered_in >= 0 and answered_in <= GIVEN_MAX
    and silence >= 0 and silence <= GIVEN_MAX and seq_low % 1 + acked_low % 1 + answered_in % 1 + silence % 1 == 0
  if not is_sound or seen_epoch ~= epoch or silent == 1 or high ~= incarnation_high or low ~= incarnation_low
    or seq_high ~= last_high or seq_low <= last_low or acked_high ~= last_high or acked_low > last_low then
    return nil
  end
  return struct.pack(NODE_FORMAT, now, epoch, 0, high, low, seq_high, seq_low)
end

-- The cluster's record after so much spilled and was spent on top of what time did to it, by a node that is missed at that
-- moment; nil if something is due, or the use is not certainly below what overload and emergency start at.
local function plain_cluster(record, spilled, spent, has_apps, missed_at)
  local version, epoch, rate, reserved, burst_ratio, emergency_threshold, promised, slack, refilled_at,
    usage_second, usage_spent, usage_before, cut, cut_since, emergency, emergency_since, emergency_until,
    contest_second, contest_weights, contest_before, harvested_at, due, history_from, history_turns, ceiling, losses
    = struct.unpack(L1_FORMAT, record)
  local elapsed, part = now - refilled_at, now % 1000
  local second = (now - part) / 1000
  local before = second == usage_second and usage_before * (1000 - part) / 1000 or usage_before
  if cut > 0 or emergency ~= OFF or elapsed < 0 or elapsed > MAX_ELAPSED or now >= due or now < harvested_at
    or now - harvested_at >= HARVEST_INTERVAL
    or (usage_spent + before) * ONE >= min(OVERLOAD_STARTS_AT, emergency_threshold) * rate * 999 then
    return nil
  end
  slack = min(slack + minus(rate, promised) * elapsed + spilled, ceiling)
  if has_apps and second ~= usage_second and second + 1 ~= usage_second then
    usage_before = second == usage_second + 1 and usage_spent or 0
    usage_spent, usage_second = 0, second
  end
  return struct.pack(L1_FORMAT,
      version, epoch, rate, reserved, burst_ratio, emergency_threshold, promised, slack, now,
      usage_second, plus(usage_spent, spent), usage_before, cut, cut_since,
      emergency, emergency_since, emergency_until, contest_second, contest_weights, contest_before, harvested_at,
      min(due, missed_at), history_from, history_turns, ceiling, losses),
    struct.pack(REPLY_FORMAT, now, epoch, version, LEASE_TTL, OFF, emergency_since, emergency_until, 0)
end

-- Answers a plain call; nil if it is none.
local function plain_sync()
  local count, node_key = #ARGV, root .. ':node:' .. ARGV[1]
  local fields = { ':l1' }
  for i = 3, count, 2 do
    fields[#fields + 1] = ARGV[i]
  end
  local records = redis.call('HMGET', root, unpack(fields))
  fields[1] = ':node'
  local leases = redis.call('HMGET', node_key, unpack(fields))
  if not records[1] or not leases[1] then
    return nil
  end
  local _, epoch = struct.unpack('<dd', records[1])
  local changes, kept, parts, seen = { ':l1', '' }, { ':node', '', ':reply', '' }, { '' }, {}
  local spilled, spent = 0, 0
  for i = 2, #fields do
    local id, record, lease, over, used = fields[i], records[i], leases[i], nil, nil
    if not record or not lease or seen[id] then
      return nil
    end
    record, lease, parts[i], over, used = plain_app(record, lease, ARGV[2 * i], epoch)
    if not record then
      return nil
    end
    seen[id], spilled, spent = true, spilled + over, spent + used
    changes[2 * i - 1], changes[2 * i] = id, record
    kept[2 * i + 1], kept[2 * i + 2] = id, lease
  end
  local missed_at = now + min(select(8, struct.unpack(HEAD_FORMAT, ARGV[2])), LEASE_TTL)
  changes[2], parts[1] = plain_cluster(records[1], spilled, spent, count > 2, missed_at)
  kept[2] = plain_node(leases[1], ARGV[2], epoch)
  if not changes[2] or not kept[2] then
    return nil
  end
  local reply = table.concat(parts)
  kept[4] = reply
  count_operations(fields, seen)
  redis.call('HSET', root, unpack(changes))
  redis.call('HSET', node_key, unpack(kept))
  redis.call('ZADD', root .. ':heard', missed_at, ARGV[1])
  return { 'ok', reply }
end

if #KEYS == 1 and #ARGV >= 2 and #ARGV % 2 == 0 and #ARGV <= BATCH then
  local answer = plain_sync()
  if answer then
    return answer
  end
end

