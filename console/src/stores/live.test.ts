import { createPinia, setActivePinia } from 'pinia'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { LiveEvent } from '@/live/events'
import { useLive } from './live'

function second(at: number): LiveEvent {
  return { type: 'metrics', timestamp: at, data: { requests: at, apps: [], clusters: {} } } as unknown as LiveEvent
}

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('away')))
  setActivePinia(createPinia())
})
afterEach(() => vi.useRealTimers())

describe('live', () => {
  it('remembers five minutes and no more', () => {
    const live = useLive()
    for (let at = 0; at < 400; at++) live.hear(second(at))
    expect(live.moments).toHaveLength(300)
    expect(live.latest?.requests).toBe(399)
    expect(live.previous?.requests).toBe(398)
  })

  it('says that numbers are old when nothing more is heard', () => {
    const live = useLive()
    live.start()
    expect(live.is_stale).toBe(false)
    live.hear(second(1))
    vi.advanceTimersByTime(3_000)
    expect(live.is_stale).toBe(false)
    vi.advanceTimersByTime(3_000)
    expect(live.is_stale).toBe(true)
    expect(live.is_fresh).toBe(false)
    live.hear(second(2))
    expect(live.is_stale).toBe(false)
    live.stop()
  })

  it('tells only those who asked, until they stop asking', () => {
    const live = useLive()
    const told: string[] = []
    const stop = live.on(['alert'], (kind) => told.push(kind))
    live.hear({ type: 'alert', data: {}, timestamp: 1 })
    live.hear({ type: 'emergency', data: {}, timestamp: 1 })
    stop()
    live.hear({ type: 'alert', data: {}, timestamp: 1 })
    expect(told).toEqual(['alert'])
  })
})
