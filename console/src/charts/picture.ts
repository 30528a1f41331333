import { short, whole } from '@/format'

export interface Curve {
  name: string
  /** The name of a colour of the page. */
  colour: string
  points?: [number, number | null][]
  values?: number[]
  isFilled?: boolean
}

/** What a chart shows. */
export interface Picture {
  kind: 'line' | 'bar'
  series: Curve[]
  /** The names of the bars. */
  names?: string[]
  unit: string
  short(value: number): string
  full(value: number): string
}

export function lines(series: Curve[], unit: string): Picture {
  return { kind: 'line', series, unit, short, full }
}

export function bars(series: Curve[], names: string[], unit: string): Picture {
  return { kind: 'bar', series, names, unit, short, full }
}

/** What a chart shows, for those who cannot see it: each bar, or how each curve ends. */
export function told({ series, names, unit }: Picture): string {
  const parts = names
    ? names.map((name, index) => `${name} ${full(series[0]?.values?.[index] ?? 0)}`)
    : series.map((one) => `${one.name} ${full(one.points?.at(-1)?.[1] ?? 0)}`)
  return `${parts.join(', ')} ${unit}`
}

function full(value: number): string {
  return Number.isInteger(value) ? whole(value) : value.toFixed(1)
}

/** Points without the last if its time is not over yet: a rate of half a minute, shared out over a whole one, is too low. */
export function finished<T extends { timestamp: number }>(points: T[], step: number, now: number): T[] {
  const last = points.at(-1)
  return last && points.length > 1 && last.timestamp + step * 1_000 > now ? points.slice(0, -1) : points
}

/** Points with a hole wherever nothing was recorded: a line across it would be a lie. */
export function gapped<T extends { timestamp: number }>(
  points: T[],
  step: number,
  value: (point: T) => number,
): [number, number | null][] {
  const drawn: [number, number | null][] = []
  let last: number | null = null
  for (const point of points) {
    if (last !== null && point.timestamp - last > step * 2_500) drawn.push([last + step * 1_000, null])
    drawn.push([point.timestamp, value(point)])
    last = point.timestamp
  }
  return drawn
}
