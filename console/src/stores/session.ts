import { defineStore } from 'pinia'
import { computed, ref } from 'vue'
import { ApiError, call, callBare, useCredentials, type Schemas } from '@/api/client'

export type Role = Schemas['Role']

/** Where a browser remembers that there may be a session, so that strangers are not asked for a cookie in vain. */
const KNOWN = 'session'

const RANK: Record<Role, number> = { viewer: 0, operator: 1, admin: 2 }

/** Who is logged in. The access token lives here only: a page that is loaded again gets another by its cookie. */
export const useSession = defineStore('session', () => {
  const user = ref<Schemas['Me'] | null>(null)
  let token: string | null = null
  let renewing: Promise<boolean> | null = null
  let is_looked_for = false

  const mustChange = computed(() => user.value?.must_change_password ?? false)

  function open(session: Schemas['SessionOpened']): void {
    token = session.access_token
    user.value = session.user
    localStorage.setItem(KNOWN, 'yes')
  }

  function close(): void {
    token = null
    user.value = null
    localStorage.removeItem(KNOWN)
  }

  function can(role: Role): boolean {
    return user.value !== null && RANK[user.value.role] >= RANK[role]
  }

  async function login(username: string, password: string): Promise<void> {
    open((await callBare('/api/v1/login', { username, password })).data)
  }

  async function changePassword(current: string, next: string): Promise<void> {
    open((await call('put', '/api/v1/me/password', { body: { current, new: next } })).data)
  }

  async function logout(): Promise<void> {
    try {
      await call('post', '/api/v1/logout')
    } finally {
      close()
    }
  }

  /** Everybody who finds the token expired waits for the same renewal. */
  function renew(): Promise<boolean> {
    renewing ??= refresh().finally(() => (renewing = null))
    return renewing
  }

  async function refresh(): Promise<boolean> {
    try {
      open((await callBare('/api/v1/session/refresh')).data)
      return true
    } catch (error) {
      // A server that is away has not ended the session.
      if (error instanceof ApiError && error.status === 401) close()
      return false
    }
  }

  /** Finds the session of a page that was loaded again; once. */
  async function resume(): Promise<void> {
    if (is_looked_for || user.value) return
    is_looked_for = true
    if (localStorage.getItem(KNOWN)) await renew()
  }

  useCredentials({ token: () => token, renew })
  return { user, mustChange, can, login, logout, changePassword, renew, resume }
})
