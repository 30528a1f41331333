import type { ApiError, Schemas } from '@/api/client'

export type Policy = Schemas['PolicyDocument']
export type PolicyInput = Schemas['AppInput']

/** One field that differs. */
export interface Difference {
  field: string
  before: unknown
  after: unknown
}

function flat(value: object, at = ''): Map<string, unknown> {
  const fields = new Map<string, unknown>()
  for (const [key, inner] of Object.entries(value)) {
    const path = at ? `${at}.${key}` : key
    if (inner !== null && typeof inner === 'object') flat(inner as object, path).forEach((v, k) => fields.set(k, v))
    else if (inner !== undefined && inner !== null) fields.set(path, inner)
  }
  return fields
}

/** What differs between two policies, field by field. */
export function differences(before: object, after: object): Difference[] {
  const [old, next] = [flat(before), flat(after)]
  const fields = [...new Set([...old.keys(), ...next.keys()])].sort()
  return fields
    .filter((field) => old.get(field) !== next.get(field))
    .map((field) => ({ field, before: old.get(field), after: next.get(field) }))
}

/** Only what a policy says, of an application that also tells how it is doing. */
export function policyOf(app: Schemas['App']): Policy {
  const { version, status, state, activity, pending, ...policy } = app
  return policy
}

/** The policy as it is sent: its name stands in the path. */
export function inputOf(policy: Policy): PolicyInput {
  const { app_id, ...input } = policy
  return input as PolicyInput
}

/** A new application, as the server would have it if nothing were said. */
export function blank(cluster: string): Policy {
  return {
    app_id: '', cluster, guaranteed_quota: 1_000, burst_quota: 5_000, burst_duration_s: 60, priority: 2,
    max_borrow: 10_000, borrow: true, repay_share: 0.5, enabled: true, shadow: false, charge_response: false,
    outage: 'limited', max_connections: 1_000, burst_connections: 1_000,
  }
}

/** What the server says about each field. */
export function fieldErrors(error: ApiError): Record<string, string> {
  const found = error.problem.errors ?? []
  return Object.fromEntries(found.map(({ path, message, expected }) => [path, expected ? `${message} (${expected})` : message]))
}
