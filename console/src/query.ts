import { computed, type WritableComputedRef } from 'vue'
import { useRoute, useRouter } from 'vue-router'

/** What was asked for in this turn and is not in the address yet: two changes at once must not undo each other. */
let waiting: Record<string, string | undefined> | null = null

/** A value that stands in the address of the page, so that links lead to what somebody saw. */
export function useQuery(key: string, otherwise: string): WritableComputedRef<string>
export function useQuery<T extends string>(key: string, otherwise: T, known: readonly T[]): WritableComputedRef<T>
export function useQuery<T extends string>(key: string, otherwise: T, known?: readonly T[]): WritableComputedRef<T> {
  const route = useRoute()
  const router = useRouter()
  return computed({
    get() {
      const value = route.query[key]
      if (typeof value !== 'string') return otherwise
      return known && !known.includes(value as T) ? otherwise : (value as T)
    },
    set(value) {
      const next = value === otherwise ? undefined : value
      if (waiting) {
        waiting[key] = next
        return
      }
      waiting = { [key]: next }
      queueMicrotask(() => {
        const query = { ...route.query, ...waiting }
        waiting = null
        void router.replace({ query })
      })
    },
  })
}

/** The number of the page of a list, from 1. */
export function usePage(key = 'page'): WritableComputedRef<number> {
  const page = useQuery(key, '1')
  return computed({ get: () => Math.max(1, Math.trunc(Number(page.value)) || 1), set: (value) => (page.value = String(value)) })
}
