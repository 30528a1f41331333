import { computed, onBeforeUnmount, onMounted, ref, watch, type ComputedRef, type Ref } from 'vue'

/** Rows that are drawn beyond what can be seen, on either side. */
const BESIDE = 15

/** How finely it is decided what to draw: not with every row that is scrolled by. */
const GRAIN = 5

export interface Rows {
  first: number
  /** The one behind the last. */
  end: number
  /** Pixels that the rows before and behind would take. */
  above: number
  below: number
}

/** Which of `count` rows to draw, of `height` pixels each, if the first begins `top` pixels above the window. */
export function rowsInView(count: number, height: number, top: number, view: number): Rows {
  const first = Math.floor(Math.max(0, top / height - BESIDE) / GRAIN) * GRAIN
  const end = Math.ceil(Math.max(0, (top + view) / height + BESIDE) / GRAIN) * GRAIN
  const [from, to] = [Math.min(first, count), Math.min(end, count)]
  return { first: from, end: to, above: from * height, below: (count - to) * height }
}

/** Draws only those rows of a long table that can be seen: hundreds that nobody sees would still take their time. */
export function useRows(body: Ref<HTMLElement | undefined>, count: () => number): ComputedRef<Rows> {
  const height = ref(58)
  const top = ref(0)
  const view = ref(window.innerHeight)
  let waiting = 0

  function look(): void {
    waiting = 0
    if (!body.value) return
    const row = body.value.querySelector<HTMLElement>('tr[data-app]')
    // Not in whole pixels: over hundreds of rows the rest adds up.
    const tall = row?.getBoundingClientRect().height
    if (tall) height.value = tall
    top.value = -body.value.getBoundingClientRect().top
    view.value = window.innerHeight
  }

  function soon(): void {
    waiting ||= requestAnimationFrame(look)
  }

  onMounted(() => {
    window.addEventListener('scroll', soon, { passive: true })
    window.addEventListener('resize', soon, { passive: true })
    look()
  })
  watch(count, soon, { flush: 'post' })
  onBeforeUnmount(() => {
    cancelAnimationFrame(waiting)
    window.removeEventListener('scroll', soon)
    window.removeEventListener('resize', soon)
  })
  return computed((before?: Rows) => {
    const rows = rowsInView(count(), height.value, top.value, view.value)
    const is_same = before?.first === rows.first && before.end === rows.end && before.above === rows.above && before.below === rows.below
    return is_same && before ? before : rows
  })
}
