-- Rows of doubles, in which records, arguments and replies are written: see cluster, app, node and sync for what is in them.
local L1_FORMAT = '<dddddddddddddddddddddddddd'
local APP_FORMAT = '<dddddddddddddddddddddddddddddddddddddddd'
local NODE_FORMAT, LEASE_FORMAT = '<ddddddd', '<dddd'
local HEAD_FORMAT, ENTRY_FORMAT = '<dddddddd', '<ddddddd'
local REPLY_FORMAT, GRANTED_FORMAT = '<dddddddd', '<ddddd'

-- What is longer than an entry reports operations behind it.
local HEAD_BYTES, ENTRY_BYTES, OPERATION_BYTES = 64, 56, 24

local LEASE_TTL = 5000
local HARVEST_INTERVAL = 1000
local MAX_ELAPSED = 3600000
local MINTED_MAX = 1e15
local BOOKS_MAX = 1e15
local OVERLOAD_STARTS_AT = 9000
local OFF, BY_OPERATOR, BY_USAGE = 0, 1, 2

local root, now = KEYS[1], clock()

-- Whether a row has nothing from that byte on but whole numbers from zero up to what a caller may give.
local function is_given(row, from)
  local rest = 0
  for at = from, #row, 8 do
    local number = struct.unpack('<d', row, at)
    if number < 0 or number > GIVEN_MAX then
      return false
    end
    rest = rest + number % 1
  end
  -- What is no number is not zero either.
  return rest == 0
end
