import { describe, expect, it } from 'vitest'
import { decidedHere, flow, headroom, type LiveMetrics } from './events'

function second(values: Partial<LiveMetrics>): LiveMetrics {
  const health = { status: 'healthy' as const, latency_p50: 0, latency_p95: 0, latency_p99: 0, connection_pool_usage: 0 }
  return {
    requests: 0, cost: 0, refused: 0, shadowed: 0, misses: 0, held: 0, tokens: 0, connections: 0,
    emergency_mode: false, redis_health: health, clusters: {}, levels: {}, apps: [], ...values,
  }
}

const cluster = { available: 250, capacity: 1000, usage: 0.5, overload_cut: 0, emergency: false, version: 1 }

describe('flow', () => {
  it('counts what was drawn as what was spent and what is held more', () => {
    expect(flow(second({ held: 100 }), second({ held: 130, cost: 50, clusters: { a: cluster } }))).toEqual({ granted: 500, drawn: 80, spent: 50 })
  })

  it('is never negative when a node gives tokens back', () => {
    expect(flow(second({ held: 500 }), second({ held: 0, cost: 10 })).drawn).toBe(0)
  })

  it('knows nothing of before at first', () => {
    expect(flow(undefined, second({ held: 500, cost: 10 })).drawn).toBe(10)
  })
})

describe('headroom', () => {
  it('is a share of all clusters together', () => {
    expect(headroom(second({ clusters: { a: cluster, b: { ...cluster, available: 750 } } }))).toBe(0.5)
    expect(headroom(second({}))).toBe(0)
  })
})

describe('decidedHere', () => {
  it('is the share of decisions for which nobody was asked, if there were any', () => {
    expect(decidedHere(second({ requests: 15, refused: 5, misses: 5 }))).toBe(0.75)
    expect(decidedHere(second({ refused: 1, misses: 3 }))).toBe(0)
    expect(decidedHere(second({}))).toBeNull()
  })
})
