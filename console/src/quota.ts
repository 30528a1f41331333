import { ref, shallowRef, computed } from 'vue'
import { ApiError, call, get, type Schemas } from '@/api/client'
import { saying } from '@/load'
import { differences, fieldErrors, inputOf, policyOf, type Policy } from '@/policy'
import type { Range } from '@/range'

export type Step = 'edit' | 'review' | 'done'

/** How often to ask how many nodes have a version, and how many times. */
const ASK_EVERY = 1_000
const ASKS = 20

/** A change of a quota on its way: edited, reviewed, applied, and put back if need be. */
export function useQuotaChange(id: string) {
  const step = ref<Step>('edit')
  const seen = shallowRef<Policy | null>(null)
  const draft = ref<Policy | null>(null)
  const reason = ref('')
  const errors = ref<Record<string, string>>({})
  const failure = ref('')
  const is_busy = ref(false)
  const is_outdated = ref(false)
  const forecast = shallowRef<Schemas['WhatIfAnswer'] | null>(null)
  const version = shallowRef<Schemas['VersionDetail'] | null>(null)
  const is_back = ref(false)
  let etag = ''
  let is_over = false

  const path = { app_id: id }
  const changes = computed(() => (seen.value && draft.value ? differences(seen.value, draft.value) : []))

  async function guarded(run: () => Promise<void>): Promise<void> {
    is_busy.value = true
    errors.value = {}
    failure.value = ''
    try {
      await run()
    } catch (caught) {
      if (caught instanceof ApiError) {
        errors.value = fieldErrors(caught)
        is_outdated.value = caught.status === 412
      }
      failure.value = saying(caught)
    } finally {
      is_busy.value = false
    }
  }

  function load(): Promise<void> {
    return guarded(async () => {
      const answer = await call('get', '/api/v1/apps/{app_id}', { path })
      seen.value = policyOf(answer.data)
      draft.value = structuredClone(seen.value)
      etag = answer.etag ?? ''
      is_outdated.value = false
      step.value = 'edit'
    })
  }

  /** Asks what the change would have done, which also tells what is wrong with it. */
  function review(range: Range): Promise<void> {
    return guarded(async () => {
      if (!draft.value) return
      forecast.value = null
      const body = { policy: inputOf(draft.value), range } as Schemas['WhatIf']
      forecast.value = (await call('post', '/api/v1/apps/{app_id}/what-if', { path, body })).data
      step.value = 'review'
    })
  }

  async function put(policy: Policy, why: string): Promise<void> {
    const body = { ...inputOf(policy), ...(why ? { reason: why } : {}) }
    const answer = await call('put', '/api/v1/apps/{app_id}', { path, body, ifMatch: etag })
    etag = answer.etag ?? ''
    version.value = null
    const latest = (await get('/api/v1/config/versions', { query: { limit: 1 } })).data[0]
    if (latest) void follow(latest.version)
  }

  function apply(): Promise<void> {
    return guarded(async () => {
      if (!draft.value) return
      await put(draft.value, reason.value)
      is_back.value = false
      step.value = 'done'
    })
  }

  /** Sets what was there before; only if nobody has changed it since. */
  function rollback(why: string): Promise<void> {
    return guarded(async () => {
      if (!seen.value) return
      await put(seen.value, why)
      is_back.value = true
    })
  }

  /** Asks how many nodes have the version, until all have. */
  async function follow(number: number): Promise<void> {
    for (let ask = 0; ask < ASKS && !is_over; ask++) {
      try {
        version.value = await get('/api/v1/config/versions/{version}', { path: { version: number } })
      } catch {
        // Asked again in a moment.
      }
      const applied = version.value?.applied
      if (applied && applied.of > 0 && applied.nodes >= applied.of) return
      await new Promise((resume) => window.setTimeout(resume, ASK_EVERY))
    }
  }

  function stop(): void {
    is_over = true
  }

  return { step, seen, draft, reason, errors, failure, is_busy, is_outdated, forecast, version, is_back, changes, load, review, apply, rollback, stop }
}
