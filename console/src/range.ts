export const RANGES = ['1h', '6h', '24h', '7d'] as const

export type Range = (typeof RANGES)[number]

/** How often a chart of that range gets a new point worth asking for, in milliseconds. */
export function pace(range: Range): number {
  return range === '1h' ? 10_000 : 60_000
}
