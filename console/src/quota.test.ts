import { beforeEach, describe, expect, it, vi } from 'vitest'
import { blank } from './policy'
import { useQuotaChange } from './quota'

const policy = { ...blank('c'), app_id: 'a' }
const app = { ...policy, version: 3, status: 'normal', state: {}, activity: {}, pending: null }
const json = (status: number, body: unknown, headers = {}) => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })

let puts: { body: Record<string, unknown>; match: string | null }[] = []
let put_status = 200

beforeEach(() => {
  puts = []
  put_status = 200
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    if (init.method === 'PUT') {
      puts.push({ body: JSON.parse(String(init.body)) as Record<string, unknown>, match: new Headers(init.headers).get('if-match') })
      return Promise.resolve(json(put_status, put_status === 200 ? app : { status: put_status, title: 'changed' }, { etag: '"4"' }))
    }
    if (url.includes('/versions?')) return Promise.resolve(json(200, { data: [{ version: 9 }], total: 1, page: 1, limit: 1 }))
    if (url.includes('/versions/9')) return Promise.resolve(json(200, { version: 9, applied: { nodes: 2, of: 2, names: ['n1', 'n2'] } }))
    if (url.includes('/what-if')) return Promise.resolve(json(200, { from: 0, until: 1, app: {}, neighbours: [] }))
    return Promise.resolve(json(200, app, { etag: '"3"' }))
  })
})

async function changed() {
  const change = useQuotaChange('a')
  await change.load()
  if (change.draft.value) change.draft.value.guaranteed_quota = 2_000
  await change.review('1h')
  return change
}

describe('a change of quota', () => {
  it('is reviewed before it is applied, and applied only to what was seen', async () => {
    const change = await changed()
    expect(change.step.value).toBe('review')
    expect(change.changes.value).toEqual([{ field: 'guaranteed_quota', before: 1_000, after: 2_000 }])
    await change.apply()
    expect(change.step.value).toBe('done')
    expect(puts[0]?.match).toBe('"3"')
    expect(puts[0]?.body['guaranteed_quota']).toBe(2_000)
    expect(puts[0]?.body).not.toHaveProperty('app_id')
    await vi.waitFor(() => expect(change.version.value?.applied.nodes).toBe(2))
    change.stop()
  })

  it('is put back to what was there, only if nobody changed it since', async () => {
    const change = await changed()
    await change.apply()
    await change.rollback('no')
    expect(puts[1]?.match).toBe('"4"')
    expect(puts[1]?.body['guaranteed_quota']).toBe(1_000)
    expect(change.is_back.value).toBe(true)
    change.stop()
  })

  it('stops where somebody else was faster', async () => {
    const change = await changed()
    put_status = 412
    await change.apply()
    expect(change.step.value).toBe('review')
    expect(change.is_outdated.value).toBe(true)
  })
})
