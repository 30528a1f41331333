export const en = {
  app: { name: 'Tollgate', skip: 'Skip to content', menu: 'Menu', theme_dark: 'Dark mode', theme_light: 'Light mode', language: '中文', logout: 'Log out', password: 'Change password' },
  nav: {
    dashboard: 'Dashboard', apps: 'Applications', clusters: 'Clusters', connections: 'Connections', emergency: 'Emergency', alerts: 'Alerts',
    refusals: 'Refusals', explain: 'Explain', versions: 'Policy versions', audit: 'Audit', settings: 'Settings',
  },
  role: { viewer: 'Viewer', operator: 'Operator', admin: 'Administrator' },
  common: {
    save: 'Save', cancel: 'Cancel', close: 'Close', back: 'Back', delete: 'Delete', create: 'Create', edit: 'Edit', retry: 'Try again',
    search: 'Search', all: 'All', yes: 'Yes', no: 'No', on: 'On', off: 'Off', export: 'Export CSV', refresh: 'Refresh',
    loading: 'Loading', empty: 'Nothing here yet', reason: 'Reason', when: 'Time', status: 'Status', name: 'Name', actions: 'Actions',
    per_second: '/s', tokens: 'tokens', tokens_per_second: 'tokens/s', requests_per_second: 'requests/s', seconds: 's', total: '{n} in all', per_page: '{n} on a page', page_size: 'How many on a page',
    range: 'Time range', before: 'Before', after: 'After', field: 'Field', saved: 'Saved', not_found: 'This page does not exist', home: 'To the dashboard',
    cluster: 'Cluster', node: 'Node', app: 'Application', copy_once: 'This is shown only once. Copy it now.', forbidden: 'Your role may not do this',
  },
  error: { offline: 'The server does not answer', failed: 'That did not work', changed: 'Somebody else has changed this meanwhile. Load it again and decide anew.', reload: 'Load again' },
  live: { live: 'Live', connecting: 'Connecting', waiting: 'Reconnecting', closed: 'Not connected', stale: 'Stale', banner: 'No live data since {time}. The numbers below are old.' },
  health: { normal: 'Normal', warning: 'Warning', critical: 'Critical', healthy: 'Healthy', degraded: 'Degraded', down: 'Down' },
  level: { normal: 'Normal', mild: 'Mild', significant: 'Significant', fail_open: 'Fail open' },
  login: {
    title: 'Log in', username: 'User name', password: 'Password', submit: 'Log in', wrong: 'The name or the password is wrong',
    change_title: 'Choose a password', change_why: 'The first password was only for getting in. Choose your own: 12 characters or more.',
    current: 'Current password', next: 'New password', again: 'New password again', differ: 'The two are not the same', short: 'At least 12 characters', change_submit: 'Set password', too_many: 'Too many attempts. Wait {n} s.',
  },
  dash: {
    passed: 'Passed', refused: 'Refused', cost: 'Cost', spent: 'Tokens spent', headroom: 'Free capacity', apps: 'Applications', active: '{n} active', connections: 'Connections', peak: 'peak {n}', in_force: 'In force', not_in_force: 'Off', last_hour: '{n} in 1 h', rate: 'Request rate', distribution: 'Cost by operation', flow: 'Token flow', top: 'Busiest applications, last hour',
    alerts: 'Open alerts', no_alerts: 'No open alerts', ledger: 'Ledger', nodes: 'Nodes', latency: 'Latency', busy: 'Line in use', requests: 'Requests', no_traffic: 'No traffic in this range',
    l1: 'L1 cluster', l2: 'L2 applications', l3: 'L3 this node', free: 'free', saved: 'saved', held: 'held', to_requests: 'Requests', flow_hint: 'Tokens granted by the cluster, drawn by this node and spent by requests, each second',
    level: 'Degradation', cut_off: 'cut off', leases: 'Leases', all_alerts: 'All alerts', of_capacity: 'of {n}/s', full: '{n} full', decided: '{n} decided here', tokens: '{n} tokens',
  },
  apps: {
    new: 'New application', search: 'Part of the name', priority: 'Priority', guaranteed: 'Guaranteed', burst: 'Burst', tokens: 'In bucket', debt: 'Debt', requests: 'Passed', refused: 'Refused',
    enabled: 'Enabled', disabled: 'Disabled', shadow: 'Shadow', version: 'Version', none: 'No application matches', delete_title: 'Delete {id}?', delete_what: 'Its requests will be refused as unknown, and its leases are void. Type the name to confirm.',
    deleted: '{id} is deleted', created: '{id} is created', reset: 'Reset bucket', reset_title: 'Start the bucket of {id} over?', reset_what: 'Tokens, debt and burst allowance start anew.', reset_done: 'The bucket starts over',
    detail_live: 'Last five minutes, live', history: 'History', quota: 'Quota', bucket: 'Bucket', by_operation: 'By operation', by_reason: 'Refusals by reason, since start', leased: 'On lease', held: 'Held here', burst_left: 'Burst left', borrowed: 'Borrowed',
    consumed: 'Spent in all', operation: 'Operation', pending: 'A change is scheduled for {time}', edit_quota: 'Edit quota', shadowed: 'Would be refused', refused_or_would: 'Refused, or would be', connections: 'Connections', live_refusals: 'Watch refusals',
  },
  editor: {
    title_new: 'New application', title_edit: 'Quota of {id}', step_edit: 'Edit', step_review: 'Review', step_done: 'Applied', review: 'Review the change', nothing: 'Nothing has changed',
    app_id: 'Name', guaranteed_quota: 'Guaranteed quota', burst_quota: 'Burst quota', burst_duration_s: 'Burst renews every', priority: 'Priority', max_borrow: 'Borrow at most', borrow: 'Borrows by itself',
    repay_share: 'Share of refill that repays', enabled: 'Enabled', shadow: 'Shadow: decide, but do not refuse', charge_response: 'Charge response bytes', max_connections: 'Connections', burst_connections: 'Connections at most', outage: 'While the ledger is away', cluster: 'Cluster',
    section_quota: 'Quota', section_borrow: 'Borrowing', section_more: 'Connections and outages', changes: 'What changes', what_if: 'What if: the last {range} again', what_if_hint: 'Recorded demand played through both policies',
    demanded: 'Demanded', refused: 'Refused', dry: 'Seconds dry', this_app: 'this application', neighbour: 'neighbour', as_shadow: 'Apply in shadow mode first', apply: 'Apply', applying: 'Applying',
    applied: 'Applied on {n} of {of} nodes', version: 'Version {n}', rollback: 'Put it back as it was', rolled_back: 'It is as it was', reason_hint: 'Why, for those who read it later', done_open: 'Open the application', what_if_missing: 'No demand is recorded for this range',
    p0: 'P0 · matters most', p1: 'P1', p2: 'P2', p3: 'P3 · matters least',
  },
  outage: { closed: 'Let nothing pass', limited: 'Let a little pass' },
  clusters: { capacity: 'Capacity', promised: 'Promised', usage: 'Granted', available: 'Free', reserved_ratio: 'Reserve', burst_ratio: 'Bursts up to', emergency_threshold: 'Emergency threshold', nodes: 'Nodes', silent: '{n} silent', cut: 'Overload cut', apps: 'Applications', edit: 'Edit limits', balance: 'Check the books', balances: 'The books balance', unbalanced: 'The books do not balance', reconcile: 'Reconcile', reconciled: '{n} applications corrected', epoch: 'Epoch', max_connections: 'Connections' },
  connections: { active: 'Open', unit: 'connections', peak: 'Peak', rejected: 'Refused', leaked: 'Leaked', limit: 'Limit', client: 'Client', open_since: 'Open since', last_seen: 'Last seen', by_app: 'By application', open_now: 'Open now', none: 'No open connections', edit: 'Change limit', history: 'Open and refused', burst: 'At most' },
  emergency: {
    calm: 'No emergency', active: 'Emergency in force', since: 'Since {time}', left: 'Ends in {time}', activate: 'Declare emergency', extend: 'New end', deactivate: 'End emergency', what: 'What happens to whom', priority: 'Priority', apps: 'Applications', guaranteed: 'Guaranteed', in_force: 'Stays in force', refused: 'All refused',
    share: 'Share', reason: 'Reason', duration: 'For', minutes: '{n} min', confirm: 'Type {word} to confirm', history: 'History', cause: 'Cause', actor: 'By', started: 'Started', ended: 'Ended', ended_by: 'Ended by', operator: 'operator', usage: 'usage', none: 'No emergency so far', done: 'The emergency is in force', over: 'The emergency is over', by_usage: 'started by the use of the cluster', expired: 'its time', recovered: 'recovery',
  },
  alerts: { open: 'Open', resolved: 'Resolved', ack: 'Acknowledge', resolve: 'Resolve', severity: 'Severity', message: 'What', raised: 'Raised', none: 'No alerts', by: 'seen by {who}' },
  rules: { refusal_ratio: 'Many refusals', slack_low: 'Little free capacity', ledger_degraded: 'Ledger hard to reach', emergency: 'Emergency mode', connection_leak: 'Leaking connections', drift: 'Books drift', debt: 'Deep debt' },
  rule_about: {
    refusal_ratio: "the share of an application's requests that are refused", slack_low: "headroom for anybody, as a share of the cluster's capacity", ledger_degraded: 'how badly the ledger can be reached: 1 mild, 2 significant, 3 not at all',
    emergency: 'whether the cluster is in emergency mode', connection_leak: 'connections that were never released, in the last five minutes', drift: 'by which share what is out differs from what the leases add up to', debt: 'what an application owes, as a share of the most that it may borrow',
  },
  alert_says: {
    refusal_ratio: '{share} of the requests of {subject} are refused', slack_low: '{subject} has {share} of its capacity left for anybody', ledger_degraded: 'The ledger is hard to reach: {level} ({subject})', emergency: '{subject} is in emergency mode: {why}',
    connection_leak: '{n} connections of {subject} were never released', drift: 'The books of {subject} are off by {share}', debt: '{subject} owes {share} of what it may borrow',
  },
  severity: { info: 'Info', warning: 'Warning', critical: 'Critical' },
  refusals: { paused: 'Paused', pause: 'Pause', resume: 'Go on', none: 'Nothing is refused right now', hint: 'The latest first, as they happen', tier: 'Tier', retry: 'Come back in', never: 'waiting does not help' },
  explain: { hint: 'The id of a decision, from the header of a response or from the list of refusals', ask: 'Explain', id: 'Decision', verdict: 'Verdict', working: 'How the cost was found', path: 'Its way through the tiers', limit: 'Limit', remaining: 'Left', retry: 'Come back in', policy: 'Policy version', base: 'base', bandwidth: 'bandwidth', units: '{n} units of bandwidth for {bytes} bytes', recent: 'Recent decisions', gone: 'No such decision is kept. Only the latest are.', reset: 'Full again in' },
  verdict: { allowed: 'Allowed', refused: 'Refused', shadowed: 'Shadowed' },
  outcome: { granted: 'granted', passed_on: 'passed on', refused: 'refused' },
  versions: { version: 'Version', author: 'Author', kind: 'Kind', touched: 'Touched', diff: 'What changed', rollback: 'Back to this', rollback_title: 'Back to version {n}?', rollback_what: 'Everything that changed since is put back:', nothing: 'Nothing differs', done: 'It is as it was at version {n}', applied: 'Applied on {n} of {of} nodes' },
  audit: { actor: 'Actor', action: 'Action', target: 'Target', ip: 'Address', details: 'Details' },
  settings: {
    users: 'Users', tokens: 'Machine tokens', rules: 'Alert rules', webhooks: 'Webhooks', system: 'System', new_user: 'New user', username: 'User name', role: 'Role', last_login: 'Last login', disable: 'Disable', enable: 'Enable', reset_password: 'New password', revoke: 'End sessions', revoked: 'The sessions of {name} are over', password_is: 'Password of {name}:', new_token: 'New token', token_is: 'Token {name}:', expires: 'Expires', created_by: 'By', last_used: 'Last used', days: 'Days',
    rule: 'Rule', threshold: 'Threshold', above: 'at least', below: 'below', for: 'For', new_webhook: 'New webhook', url: 'Address', secret_is: 'Secret:', delete_what: 'Delete {name}?', must_change: 'must choose a password', calls: 'Calls', failed: 'failed', version: 'Policy version',
  },
}

/** Every language has these, and no others. */
export type Messages = typeof en
