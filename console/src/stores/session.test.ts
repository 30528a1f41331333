import { createPinia, setActivePinia } from 'pinia'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { get } from '@/api/client'
import { useSession } from './session'

const json = (status: number, body: unknown) => new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
const opened = (token: string, role = 'viewer') => ({ access_token: token, token_type: 'Bearer', expires_in: 900, user: { username: 'a', role, must_change_password: false } })

let calls: { url: string; token: string | null }[] = []

function answer(give: (url: string, token: string | null) => Response | Promise<Response>): void {
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const token = new Headers(init.headers).get('authorization')
    calls.push({ url, token })
    return Promise.resolve(give(url, token))
  })
}

beforeEach(() => {
  setActivePinia(createPinia())
  calls = []
})

describe('session', () => {
  it('knows what each role may do', async () => {
    answer(() => json(200, opened('t', 'operator')))
    const session = useSession()
    expect(session.can('viewer')).toBe(false)
    await session.login('a', 'b')
    expect([session.can('viewer'), session.can('operator'), session.can('admin')]).toEqual([true, true, false])
  })

  it('renews an expired token once for all calls that found it expired', async () => {
    const session = useSession()
    answer(() => json(200, opened('old')))
    await session.login('a', 'b')
    answer((url, token) => {
      if (url.endsWith('/session/refresh')) return json(200, opened('new'))
      return token === 'Bearer new' ? json(200, { data: [], total: 0 }) : json(401, { status: 401, title: 'no' })
    })
    calls = []
    await Promise.all([get('/api/v1/clusters'), get('/api/v1/nodes')])
    expect(calls.filter((call) => call.url.endsWith('/refresh'))).toHaveLength(1)
  })

  it('is over when the server says so, but not when the server is away', async () => {
    const session = useSession()
    answer(() => json(200, opened('t')))
    await session.login('a', 'b')
    answer(() => Promise.reject(new TypeError('away')))
    expect(await session.renew()).toBe(false)
    expect(session.user).not.toBeNull()
    answer(() => json(401, { status: 401, title: 'over' }))
    expect(await session.renew()).toBe(false)
    expect(session.user).toBeNull()
  })
})
