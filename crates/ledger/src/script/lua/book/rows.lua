-- Rows of doubles, in which records, arguments and replies are written: see cluster, app, node and sync for what is in them.
local L1_FORMAT = '<dddddddddddddddddddddddddd'
local APP_FORMAT = '<dddddddddddddddddddddddddddddddddddddddd'
local NODE_FORMAT, LEASE_FORMAT = '<ddddddd', '<dddd'
local HEAD_FORMAT, ENTRY_FORMAT = '<dddddddd', '<ddddddd'
local REPLY_FORMAT, GRANTED_FORMAT = '<dddddddd', '<ddddd'

-- Where an entry is longer, operations are reported from this byte on.
local OPERATIONS_START = 57

local LEASE_TTL = 5000
local HARVEST_INTERVAL = 1000
local MAX_ELAPSED = 3600000
local MINTED_MAX = 1e15
local BOOKS_MAX = 1e15
local OVERLOAD_STARTS_AT = 9000
local OFF, BY_OPERATOR, BY_USAGE = 0, 1, 2

local root, now = KEYS[1], clock()

