import { locale } from '@/i18n'

function language(): string {
  return locale.value === 'zh' ? 'zh-CN' : 'en'
}

const formats = new Map<string, Intl.NumberFormat>()

function format(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = language() + JSON.stringify(options)
  let found = formats.get(key)
  if (!found) formats.set(key, (found = new Intl.NumberFormat(language(), options)))
  return found
}

/** A number in full: 12,345. */
export function whole(value: number): string {
  return format({ maximumFractionDigits: 0 }).format(value)
}

/** A number in short: 12.3K. */
export function short(value: number): string {
  return format({ notation: 'compact', maximumFractionDigits: 1 }).format(value)
}

/** A share: 12.3%. */
export function percent(ratio: number): string {
  return format({ style: 'percent', maximumFractionDigits: 1 }).format(ratio)
}

/** Milliseconds, as finely as they matter. */
export function millis(value: number): string {
  return `${format({ maximumFractionDigits: value < 10 ? 2 : 0 }).format(value)} ms`
}

/** A moment in the zone of whoever looks. */
export function time(at: number | null | undefined): string {
  if (at === null || at === undefined) return '–'
  const date = new Date(at)
  return date.toLocaleString(language(), { dateStyle: 'medium', timeStyle: 'medium' })
}

/** Only the time of the day. */
export function clock(at: number): string {
  return new Date(at).toLocaleTimeString(language())
}

/** How long: 1:02:03 or 2:03. */
export function duration(span: number): string {
  const seconds = Math.max(0, Math.ceil(span / 1_000))
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  const [hours = 0, minutes = 0, rest = 0] = parts
  const two = (value: number) => String(value).padStart(2, '0')
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}
