import { defineStore } from 'pinia'
import { computed, ref, shallowRef, triggerRef } from 'vue'
import { call, type Schemas } from '@/api/client'
import type { LiveEvent, LiveMetrics, Moment } from '@/live/events'
import { LiveSocket, STALE_AFTER, type SocketState, type World } from '@/live/socket'

/** How many seconds are remembered. */
export const REMEMBERED = 300

/** How many refusals are. */
const REFUSALS = 500

/** Silent for so long, a connection is given up, in milliseconds. */
const GIVE_UP = 10_000

type Kind = LiveEvent['type']

const world: World = {
  ticket: async () => (await call('post', '/api/v1/ws/ticket')).data.ticket,
  open(ticket) {
    const protocol = location.protocol === 'https:' ? 'wss:' : 'ws:'
    return new WebSocket(`${protocol}//${location.host}/api/v1/ws?ticket=${encodeURIComponent(ticket)}`)
  },
  later: (run, wait) => window.setTimeout(run, wait),
  forget: (timer) => window.clearTimeout(timer),
  random: () => Math.random(),
}

/** What happens, as it happens. */
export const useLive = defineStore('live', () => {
  const state = ref<SocketState>('closed')
  const moments = shallowRef<Moment[]>([])
  const refusals = shallowRef<Schemas['Decision'][]>([])
  const heard_at = ref(0)
  const now = ref(Date.now())
  const listeners = new Map<(kind: Kind) => void, ReadonlySet<Kind>>()
  let clock: number | null = null

  const latest = computed<LiveMetrics | null>(() => moments.value.at(-1)?.metrics ?? null)
  const previous = computed<LiveMetrics | undefined>(() => moments.value.at(-2)?.metrics)
  const is_stale = computed(() => heard_at.value > 0 && now.value - heard_at.value > STALE_AFTER)
  const is_fresh = computed(() => state.value === 'live' && heard_at.value > 0 && !is_stale.value)

  const socket = new LiveSocket(world, {
    state: (next) => (state.value = next),
    message: (text) => hear(JSON.parse(text) as LiveEvent),
  })

  function hear(event: LiveEvent): void {
    heard_at.value = now.value = Date.now()
    if (event.type === 'metrics') {
      moments.value.push({ at: event.timestamp, metrics: event.data })
      if (moments.value.length > REMEMBERED) moments.value.splice(0, moments.value.length - REMEMBERED)
      triggerRef(moments)
    } else if (event.type === 'refusals') {
      refusals.value = [...event.data, ...refusals.value].slice(0, REFUSALS)
    }
    for (const [tell, kinds] of listeners) if (kinds.has(event.type)) tell(event.type)
  }

  function tick(): void {
    now.value = Date.now()
    if (heard_at.value > 0 && now.value - heard_at.value > GIVE_UP && state.value === 'live') socket.restart()
  }

  function start(): void {
    clock ??= window.setInterval(tick, 1_000)
    socket.start()
  }

  function stop(): void {
    if (clock !== null) window.clearInterval(clock)
    clock = null
    socket.stop()
    moments.value = []
    refusals.value = []
    heard_at.value = 0
  }

  /** Follows refusals too, or not any more. */
  function followRefusals(filter: { app_id?: string; reason?: string } | null): void {
    const kinds: Kind[] = ['metrics', 'alert', 'config_change', 'emergency']
    refusals.value = []
    socket.subscribe(filter ? { subscribe: [...kinds, 'refusals'], ...filter } : { subscribe: kinds })
  }

  /** Calls back when such a thing happens, until the function that is returned is called. */
  function on(kinds: Kind[], tell: (kind: Kind) => void): () => void {
    listeners.set(tell, new Set(kinds))
    return () => listeners.delete(tell)
  }

  return { state, moments, refusals, heard_at, latest, previous, is_stale, is_fresh, now, start, stop, hear, on, followRefusals }
})
