import { onBeforeUnmount, onMounted, ref, shallowRef, watch, type Ref, type WatchSource } from 'vue'
import { ApiError } from '@/api/client'
import { t } from '@/i18n'

export interface Load<T> {
  data: Readonly<Ref<T | null>>
  error: Readonly<Ref<string>>
  isLoading: Readonly<Ref<boolean>>
  reload: () => Promise<void>
}

export interface LoadOptions {
  /** Load again when this changes. */
  on?: WatchSource<unknown>
  /** Load again so often, in milliseconds, while the page can be seen. */
  every?: () => number
  /** Do not load while this holds. */
  unless?: () => boolean
}

/** What went wrong, in words. */
export function saying(caught: unknown): string {
  if (!(caught instanceof ApiError)) return t('error.failed')
  if (caught.status === 0) return t('error.offline')
  if (caught.status === 412) return t('error.changed')
  if (caught.status === 403) return t('common.forbidden')
  const fields = caught.problem.errors?.map((error) => `${error.path}: ${error.message}${error.expected ? ` (${error.expected})` : ''}`)
  return fields?.length ? fields.join('; ') : caught.message
}

/** The most entries that the server gives at once. */
const MOST = 500

/** Reads a list to its end. */
export async function everything<T>(read: (page: number, limit: number) => Promise<{ data: T[]; total: number }>): Promise<T[]> {
  const all: T[] = []
  for (let page = 1; ; page++) {
    const { data, total } = await read(page, MOST)
    all.push(...data)
    // What was deleted meanwhile is not waited for.
    if (all.length >= total || data.length === 0) return all
  }
}

/** Reads something for a page: at first, when what it depends on changes, and from time to time. */
export function useLoad<T>(read: () => Promise<T>, options: LoadOptions = {}): Load<T> {
  const data = shallowRef<T | null>(null)
  const error = ref('')
  const is_loading = ref(true)
  let latest = 0
  let timer = 0

  async function reload(): Promise<void> {
    if (options.unless?.()) return
    const turn = ++latest
    window.clearTimeout(timer)
    is_loading.value = true
    try {
      const answer = await read()
      // An answer to an older question must not replace that to a newer one.
      if (turn !== latest) return
      data.value = answer
      error.value = ''
    } catch (caught) {
      if (turn === latest) error.value = saying(caught)
    }
    if (turn !== latest) return
    is_loading.value = false
    if (options.every) timer = window.setTimeout(again, options.every())
  }

  function again(): void {
    if (document.visibilityState === 'visible') void reload()
    else if (options.every) timer = window.setTimeout(again, options.every())
  }

  onMounted(reload)
  if (options.on) watch(options.on, () => void reload())
  onBeforeUnmount(() => {
    latest++
    window.clearTimeout(timer)
  })
  return { data, error, isLoading: is_loading, reload }
}
