import type { Schemas } from '@/api/client'

export const SORTS = ['app_id', 'guaranteed_quota', 'burst_quota', 'priority', 'tokens', 'debt', 'requests', 'refused', 'version'] as const

export type Sort = (typeof SORTS)[number]

export interface AppFilter {
  search: string | undefined
  status: Schemas['Health'] | undefined
  priority: number | undefined
  sort: Sort
  descending: boolean
}

/** The columns of an exported list. */
export const APP_COLUMNS: { name: string; of: (app: Schemas['App']) => unknown }[] = [
  { name: 'app_id', of: (app) => app.app_id },
  { name: 'cluster', of: (app) => app.cluster },
  { name: 'priority', of: (app) => app.priority },
  { name: 'guaranteed_quota', of: (app) => app.guaranteed_quota },
  { name: 'burst_quota', of: (app) => app.burst_quota },
  { name: 'enabled', of: (app) => app.enabled },
  { name: 'shadow', of: (app) => app.shadow },
  { name: 'status', of: (app) => app.status },
  { name: 'tokens', of: (app) => app.state.tokens },
  { name: 'debt', of: (app) => app.state.debt },
  { name: 'requests_per_second', of: (app) => app.activity.requests },
  { name: 'refused_per_second', of: (app) => app.activity.refused },
  { name: 'total_requests', of: (app) => app.state.total_requests },
  { name: 'total_consumed', of: (app) => app.state.total_consumed },
  { name: 'version', of: (app) => app.version },
]
