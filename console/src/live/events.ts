import type { Schemas } from '@/api/client'

/** What an application did in a second. */
export interface LiveApp {
  app_id: string
  requests: number
  cost: number
  refused: number
  shadowed: number
  held: number
  tokens: number
  connections: number
}

export interface LiveCluster {
  available: number
  capacity: number
  usage: number
  overload_cut: number
  emergency: boolean
  version: number
}

/** How things stand, once a second. */
export interface LiveMetrics {
  requests: number
  cost: number
  refused: number
  shadowed: number
  misses: number
  held: number
  tokens: number
  connections: number
  emergency_mode: boolean
  redis_health: Schemas['RedisHealth']
  clusters: Record<string, LiveCluster>
  levels: Record<string, string>
  apps: LiveApp[]
}

export type LiveEvent =
  | { type: 'metrics'; data: LiveMetrics; timestamp: number }
  | { type: 'refusals'; data: Schemas['Decision'][]; timestamp: number }
  | { type: 'alert' | 'config_change' | 'emergency'; data: Record<string, unknown>; timestamp: number }

/** A second that is remembered for charts. */
export interface Moment {
  at: number
  metrics: LiveMetrics
}

/** How tokens moved in a second, in tokens. */
export interface TokenFlow {
  granted: number
  drawn: number
  spent: number
}

/** What went from tier to tier between two seconds: what a node spends it drew, or had. */
export function flow(before: LiveMetrics | undefined, now: LiveMetrics): TokenFlow {
  const clusters = Object.values(now.clusters)
  const granted = clusters.reduce((sum, cluster) => sum + cluster.usage * cluster.capacity, 0)
  const drawn = Math.max(0, now.cost + now.held - (before?.held ?? now.held))
  return { granted, drawn, spent: now.cost }
}

/** What anybody may still have, in tokens. */
export function slack(now: LiveMetrics): number {
  return Object.values(now.clusters).reduce((sum, cluster) => sum + cluster.available, 0)
}

/** What all clusters stand, in tokens a second. */
export function capacity(now: LiveMetrics): number {
  return Object.values(now.clusters).reduce((sum, cluster) => sum + cluster.capacity, 0)
}

/** What anybody may still have, as a share of the capacity: more than 1 if tokens are saved up for bursts. */
export function headroom(now: LiveMetrics): number {
  const most = capacity(now)
  return most === 0 ? 0 : slack(now) / most
}

/** The share of decisions that needed nobody else; none if there were none. */
export function decidedHere(now: LiveMetrics): number | null {
  const decisions = now.requests + now.refused
  return decisions === 0 ? null : 1 - Math.min(now.misses, decisions) / decisions
}
